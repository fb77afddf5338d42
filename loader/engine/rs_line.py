"""One connection to a server that is not allowed any socket of its own.

The listening socket is made before the server starts and handed to it; its filter drops every packet but
those of the one socket that is connected here, so nobody else on the machine gets through, not even
while the server starts. The filter can't be taken off again.
"""

from __future__ import annotations

import ctypes
import socket
import struct

_LOOPBACK = "127.0.0.1"
# linux/asm-generic/socket.h
_ATTACH_FILTER, _LOCK_FILTER = 26, 44
# Instructions of the classic BPF machine (linux/bpf_common.h), and where the network header begins
# (linux/filter.h); a filter of a TCP socket reads from the TCP header on.
_LOAD_WORD, _LOAD_HALF, _EQUAL, _RETURN = 0x20, 0x28, 0x15, 0x06
_NETWORK_HEADER = 0xFFF00000
_SOURCE_ADDRESS, _SOURCE_PORT = _NETWORK_HEADER + 12, 0
_WHOLE_PACKET = 0xFFFFFFFF
_CONNECT_SECONDS = 1.0
"""The kernel itself completes the connection; longer means that the filter works against us."""


def open_line() -> tuple[socket.socket, socket.socket]:
    """A listening socket that doesn't block, and the socket that is connected to it.

    Raises:
        OSError: this machine has no loopback interface, or no sockets are left.
    """
    client = socket.socket()
    listener = socket.socket()
    try:
        client.bind((_LOOPBACK, 0))
        listener.bind((_LOOPBACK, 0))
        _let_in_only(listener, client.getsockname()[1])
        listener.listen(1)
        listener.setblocking(False)
        client.settimeout(_CONNECT_SECONDS)
        client.connect(listener.getsockname())
        client.settimeout(None)
    except OSError:
        client.close()
        listener.close()
        raise
    return listener, client


def _let_in_only(listener: socket.socket, port: int) -> None:
    """Attaches the filter, for good."""
    address = struct.unpack("!I", socket.inet_aton(_LOOPBACK))[0]
    code = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (_LOAD_WORD, 0, 0, _SOURCE_ADDRESS),
            (_EQUAL, 0, 3, address),
            (_LOAD_HALF, 0, 0, _SOURCE_PORT),
            (_EQUAL, 0, 1, port),
            (_RETURN, 0, 0, _WHOLE_PACKET),
            (_RETURN, 0, 0, 0),
        )
    )
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", len(code) // 8, ctypes.addressof(buffer))
    listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
    listener.setsockopt(socket.SOL_SOCKET, _LOCK_FILTER, 1)
