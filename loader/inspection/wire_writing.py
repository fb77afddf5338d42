"""Writes fields of protobuf messages without a schema, for copies of profiles that differ from the original.

Knows only the wire format (https://protobuf.dev/programming-guides/encoding/), as `loader.inspection.wire`,
which reads it.
"""

from __future__ import annotations

PADDED_BYTES = 5
"""Of a length that is filled in later; as many as protobuf reads of one."""


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(tag: int, value: int) -> bytes:
    """A field that is a varint."""
    return varint(tag) + varint(value)


def field(tag: int, content: bytes) -> bytes:
    """A field that is no varint, as it stood."""
    length = varint(len(content)) if tag & 7 == 2 else b""
    return varint(tag) + length + content


def block(tag: int, content: bytes) -> bytes:
    """A text, bytes or a message."""
    return varint(tag) + varint(len(content)) + content


def padded(value: int) -> bytes:
    """A number in as many bytes as were kept free for it, `PADDED_BYTES`."""
    shifts = range(0, 7 * PADDED_BYTES, 7)
    groups = [value >> shift & 0x7F for shift in shifts]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])
