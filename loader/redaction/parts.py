"""Writes one message of a profile anew, in pieces, so that no file makes it take memory out of proportion.

Two bytes can be an empty message, which takes some hundred bytes once it is parsed. So what can hold many
messages is walked, and only what is in them is parsed, up to a size that no true profile has.
"""

from __future__ import annotations

from functools import cache

from google.protobuf.descriptor import FieldDescriptor

from loader.inspection.refusals import too_large
from loader.inspection.wire import Walker
from loader.inspection.wire_writing import block, field, number
from loader.redaction.schema import parse, written
from loader.redaction.texts import TextReplacer

MOST_BYTES = 8 << 20
"""Of what is parsed at once and may hold messages: an instruction, an allocation, an event."""

_WALKED = frozenset(
    {
        *("EventMetadataEntry", "EventMetadata", "Hlo", "Module", "Computation"),
        *("Schedule", "BufferAssignment", "HeapTrace"),
    }
)
_FLAT = frozenset({"Stat", "StatMetadataEntry"})
"""What holds no messages takes no more memory than bytes."""


class PartWriter:
    """Redacts messages of `loader.redaction.schema`."""

    def __init__(self, replacer: TextReplacer) -> None:
        """Takes what replaces texts."""
        self._replacer = replacer

    def rewrite(self, kind: str, data: bytes) -> bytes:
        """The message of this kind in the bytes, redacted.

        Raises:
            LoaderError: TOO_LARGE, a part of it is larger than any true one.
            WireError: it is no message.
            google.protobuf.message.DecodeError: likewise.
        """
        if kind not in _WALKED:
            if kind not in _FLAT:
                check_size(len(data))
            return written(self._replacer.apply(parse(kind, data)))
        inner = _inner(kind)
        own, parts = [], []
        for tag, first, last in Walker(data, len(data) + 1).fields(0, len(data)):
            below = inner.get(tag)
            if below is not None:
                parts.append(block(tag, self.rewrite(below, data[first:last])))
            elif tag & 7 == 0:
                own.append(number(tag, first))
            else:
                own.append(field(tag, data[first:last]))
        head = written(self._replacer.apply(parse(kind, b"".join(own))))
        return head + b"".join(parts)


def check_size(size: int) -> None:
    """Refuses a part that is larger than any true one.

    Raises:
        LoaderError: TOO_LARGE.
    """
    if size > MOST_BYTES:
        raise too_large(
            f"a part of it has {size:,} bytes, and the limit for redacted links is {MOST_BYTES:,}"
        )


@cache
def _inner(kind: str) -> dict[int, str]:
    """Tags of the messages in a message, with their kinds."""
    return {
        found.number << 3 | 2: found.message_type.name
        for found in parse(kind, b"").DESCRIPTOR.fields
        if found.type == FieldDescriptor.TYPE_MESSAGE
    }
