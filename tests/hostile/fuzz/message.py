"""Takes any protobuf message apart without its schema, and puts it together again, also wrongly."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from tests.wire_bytes import varint

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_DEEPEST = 12


@dataclass
class Field:
    """One field.

    Attributes:
        number: its number.
        kind: its wire type, which says what `value` is.
        value: a number, bytes, or the fields of a message.
        claimed: length to write instead of the true one.
        tag_kind: wire type to write instead of the true one.
    """

    number: int
    kind: int
    value: int | bytes | list[Field]
    claimed: int | None = None
    tag_kind: int | None = None


class _NotAMessageError(ValueError):
    """These bytes are not a message."""


def parse(data: bytes, depth: int = 0) -> list[Field]:
    """The fields of a message, down to those that are none; of damaged bytes, those before the damage."""
    fields: list[Field] = []
    at = 0
    while at < len(data):
        try:
            field, at = _field(data, at, depth)
        except _NotAMessageError:
            if depth:
                raise
            break
        fields.append(field)
    return fields


def _field(data: bytes, at: int, depth: int) -> tuple[Field, int]:
    tag, at = _number(data, at)
    number, kind = tag >> 3, tag & 7
    if number == 0:
        raise _NotAMessageError
    if kind == VARINT:
        value, at = _number(data, at)
        return Field(number, kind, value), at
    if kind in {FIXED64, FIXED32}:
        form = "<Q" if kind == FIXED64 else "<I"
        if at + struct.calcsize(form) > len(data):
            raise _NotAMessageError
        return Field(number, kind, struct.unpack_from(form, data, at)[0]), at + struct.calcsize(
            form
        )
    if kind != LENGTH:
        raise _NotAMessageError
    length, at = _number(data, at)
    if at + length > len(data):
        raise _NotAMessageError
    return Field(number, kind, _content(data[at : at + length], depth)), at + length


def _content(data: bytes, depth: int) -> bytes | list[Field]:
    if not data or depth >= _DEEPEST:
        return data
    try:
        return parse(data, depth + 1)
    except _NotAMessageError:
        return data


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & (1 << 64) - 1, at
    raise _NotAMessageError


def serialize(fields: list[Field]) -> bytes:
    """The message as bytes."""
    return b"".join(_bytes(field) for field in fields)


def _bytes(field: Field) -> bytes:
    kind = field.kind if field.tag_kind is None else field.tag_kind
    tag = varint(field.number << 3 | kind)
    if isinstance(field.value, int):
        if field.kind == VARINT:
            return tag + varint(field.value)
        return tag + struct.pack("<Q" if field.kind == FIXED64 else "<I", field.value)
    content = serialize(field.value) if isinstance(field.value, list) else field.value
    length = len(content) if field.claimed is None else field.claimed
    return tag + varint(length) + content
