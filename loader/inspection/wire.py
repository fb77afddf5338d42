"""Walking protobuf messages without a schema, in place and with constant memory.

Knows only the wire format (https://protobuf.dev/programming-guides/encoding/), nothing of profiles. Any
bytes are walked safely: what does not parse raises `WireError`, never anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from mmap import mmap

MAX_LENGTH = (1 << 31) - 1
"""Longest message or string that protobuf implementations read (2 GiB)."""

_MAX_VARINT_BYTES = 10
_UINT32 = (1 << 32) - 1
_UINT64 = (1 << 64) - 1
_MIN_TAG = 8  # field number 0 does not exist
_VARINT = 0
_WIDTHS = {_VARINT: None, 1: 8, 2: None, 5: 4}
"""Bytes of a value by wire type; None: told by a number in front of it."""
_GROUPS = frozenset({3, 4})


class Flaw(StrEnum):
    """Why bytes can't be walked."""

    ENDS_EARLY = "ends early"
    """A value goes on behind the end."""
    LENGTH = "length"
    """A length is larger than any message may be."""
    NUMBER = "number"
    """A number takes more than ten bytes."""
    TAG = "tag"
    """A field number or wire type that does not exist."""
    GROUP = "group"
    """A group; valid but never written by proto3, and text often looks like one."""
    TOO_MANY = "too many"
    """More fields than the walker may look at."""


class WireError(ValueError):
    """The bytes are not a protobuf message, or one with too many fields.

    Attributes:
        flaw: what is wrong.
    """

    def __init__(self, flaw: Flaw) -> None:
        super().__init__(flaw.value)
        self.flaw = flaw


class Walker:
    """Walks the messages in one buffer, up to a number of fields and packed numbers in all.

    Args:
        data: the buffer; positions in all methods count from its start.
        max_fields: how many fields may be visited before TOO_MANY, which bounds time.
    """

    def __init__(self, data: bytes | mmap, max_fields: int) -> None:
        self.data = data
        self._left = max_fields

    @property
    def left(self) -> int:
        """How many fields may still be visited."""
        return self._left

    def pass_over(self, fields: int) -> None:
        """Counts fields as visited that need no visit.

        Raises:
            WireError: TOO_MANY.
        """
        self._left -= fields
        if self._left < 0:
            raise WireError(Flaw.TOO_MANY)

    def fields(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The fields of the message in `data[start:end]`, in their order.

        Gives `(tag, value, 0)` for a varint and `(tag, first, end)` with the bounds of the content for
        all others. `tag` is field number and wire type as on the wire (number << 3 | type), so a known
        number with a foreign type is simply another tag, as it is for protobuf.

        Raises:
            WireError: at the first byte that is not part of a message.
        """
        data, position = self.data, start
        while position < end:
            self._left -= 1
            tag = data[position]
            position += 1
            if tag > 0x7F:
                tag, position = self._varint(position - 1, end)
                tag &= _UINT32  # XProf 2.24.2 does so (measured); what it reads must be seen
            if tag & 7 not in _WIDTHS or tag < _MIN_TAG or self._left < 0:
                raise WireError(self._flaw_of(tag))
            if (width := _WIDTHS[tag & 7]) is None:
                if position >= end:
                    raise WireError(Flaw.ENDS_EARLY)
                width = data[position]
                position += 1
                if width > 0x7F:
                    width, position = self._varint(position - 1, end)
                if tag & 7 == _VARINT:
                    yield tag, width, 0
                    continue
                if width > MAX_LENGTH:
                    raise WireError(Flaw.LENGTH)
            first, position = position, position + width
            if position > end:
                raise WireError(Flaw.ENDS_EARLY)
            yield tag, first, position

    def numbers(self, start: int, end: int) -> Iterator[int]:
        """The numbers of a packed repeated field.

        Raises:
            WireError: ENDS_EARLY, NUMBER or TOO_MANY.
        """
        position = start
        while position < end:
            self._left -= 1
            if self._left < 0:
                raise WireError(Flaw.TOO_MANY)
            value, position = self._varint(position, end)
            yield value

    def inside(self, start: int, end: int, path: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Bounds of all fields that a path of tags leads to, from the message in `data[start:end]`.

        Raises:
            WireError: as `fields`.
        """
        for tag, first, last in self.fields(start, end):
            if tag == path[0]:
                if len(path) == 1:
                    yield first, last
                else:
                    yield from self.inside(first, last, path[1:])

    def _varint(self, start: int, end: int) -> tuple[int, int]:
        """One number and the position behind it."""
        value = shift = 0
        for position in range(start, min(start + _MAX_VARINT_BYTES, end)):
            byte = self.data[position]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & _UINT64, position + 1
            shift += 7
        raise WireError(Flaw.NUMBER if end - start >= _MAX_VARINT_BYTES else Flaw.ENDS_EARLY)

    def _flaw_of(self, tag: int) -> Flaw:
        """Why a tag stops the walk."""
        if self._left < 0:
            return Flaw.TOO_MANY
        return Flaw.GROUP if tag & 7 in _GROUPS and tag >= _MIN_TAG else Flaw.TAG


def signed(value: int) -> int:
    """A varint as the int64 that it encodes."""
    return value - (1 << 64) if value >> 63 else value
