"""Changes strings deep inside a profile without knowing the rest of its format."""

from __future__ import annotations

from collections.abc import Callable

from tests.wire_bytes import varint

FieldPath = tuple[int, ...]
Change = Callable[[FieldPath, bytes], bytes]
"""The new content of a length-delimited field; the same content leaves it as it is."""

_FIXED = {1: 8, 5: 4}


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def rewrite(
    data: bytes, messages: frozenset[FieldPath], change: Change, path: FieldPath = ()
) -> bytes:
    """Applies `change` to every length-delimited field, inside out.

    Args:
        data: a message.
        messages: paths of field numbers that hold messages to go into.
        change: called with each field's path and content.
        path: where `data` lies.
    """
    out = bytearray()
    at = 0
    while at < len(data):
        start = at
        tag, at = _read_varint(data, at)
        kind = tag & 7
        if kind == 2:
            length, at = _read_varint(data, at)
            content = data[at : at + length]
            at += length
            inner = (*path, tag >> 3)
            if inner in messages:
                content = rewrite(content, messages, change, inner)
            content = change(inner, content)
            out += varint(tag) + varint(len(content)) + content
            continue
        at = _read_varint(data, at)[1] if kind == 0 else at + _FIXED[kind]
        out += data[start:at]
    return bytes(out)
