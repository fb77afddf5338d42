"""Stretches of the clock in which something may happen so often; and whom that is counted for.

A window begins when the clock's seconds are a multiple of its length, so that all front ends mean the same
one without asking each other. No counter of its own.
"""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass

MOST_SUBJECTS = 10_000
"""Those that one process keeps counts of at a time; beyond, those counted least are dropped, or new ones are
not counted there."""
_PREFIX = "xprof-hub:limit:"


@dataclass(frozen=True)
class Limit:
    """So often, and no more, within a window.

    Attributes:
        name: what is counted, in a word.
        most: how often; 0 for any number.
        seconds: length of the window.
    """

    name: str
    most: int
    seconds: int = 60

    def window(self, now: float) -> int:
        """Number of the window that this moment (seconds since 1970) lies in."""
        return int(now) // self.seconds

    def seconds_left(self, now: float) -> int:
        """Until the next window begins: 1 at least."""
        return self.seconds - int(now) % self.seconds


@dataclass(frozen=True)
class Counted:
    """A limit for somebody or something.

    Attributes:
        limit: how often.
        subject: a network address, the id of a link.
    """

    limit: Limit
    subject: str

    def key(self, now: float) -> str:
        """Name of its count in Redis; does not show the subject."""
        digest = hashlib.sha256(self.subject.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return f"{_PREFIX}{self.limit.name}:{self.limit.window(now)}:{digest}"


def network_of(address: str) -> str:
    """What one customer of a provider has: an IPv4 address, or the first half of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))
