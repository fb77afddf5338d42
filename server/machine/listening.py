"""The socket that a server answers on, and the one error of a start that can't be."""

from __future__ import annotations

import socket

_BACKLOG = 512


class StartError(Exception):
    """The service can't start; the message says what to set or do."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; port 0 takes a free one.

    Raises:
        StartError: the address is taken or not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as problem:
        listener.close()
        reason = problem.strerror if isinstance(problem, OSError) else "there is no such port"
        raise StartError(
            f"Can't listen on {host}:{port}: {reason}. Choose another port "
            "(--port N, or XPROF_HUB_PORT; 0 takes a free one)."
        ) from problem
    listener.listen(_BACKLOG)
    return listener


def url_of(listener: socket.socket) -> str:
    """The HTTP address of a listening socket, as someone on this machine reaches it."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not binding
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"
