"""Which addresses a load test may be aimed at: this machine's own, so that nobody floods another one."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


class NotLoopbackError(ValueError):
    """The address is not this machine's own."""


def loopback_address(url: str) -> tuple[str, int]:
    """Host and port of an address on the loopback interface.

    Names are not resolved: who answers to one may change.

    Raises:
        NotLoopbackError: it is no `http` address with a loopback address and a port.
    """
    parts = urlsplit(url)
    try:
        is_loopback = ipaddress.ip_address(parts.hostname or "").is_loopback
        port = parts.port
    except ValueError:
        is_loopback, port = False, None
    if parts.scheme != "http" or not is_loopback or port is None or parts.hostname is None:
        raise NotLoopbackError(
            f"{url!r} is no address like http://127.0.0.1:8080. A load test only asks hubs on this machine."
        )
    return parts.hostname, port
