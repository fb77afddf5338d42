"""Replacing every text in a parsed message of `loader.redaction.schema`, whatever its depth.

Which fields are texts is known from the message's own description, so that no field can be forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

BINARY = "data"
"""Name of the one field that holds bytes of any kind."""

Replace = Callable[[bytes], bytes]


@dataclass
class _Fields:
    """Names of the fields of one kind of message that hold texts, themselves or below."""

    texts: list[str] = field(default_factory=list)
    text_lists: list[str] = field(default_factory=list)
    messages: list[tuple[str, _Fields]] = field(default_factory=list)
    message_lists: list[tuple[str, _Fields]] = field(default_factory=list)
    has_binary: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to look at."""
        return bool(
            self.texts or self.text_lists or self.messages or self.message_lists or self.has_binary
        )


class TextReplacer:
    """Replaces the texts of messages in place.

    Args:
        replace: gives what stands for a text.
        binary: told of every message with a binary field, which it changes or removes.
    """

    def __init__(self, replace: Replace, binary: Callable[[Message], None]) -> None:
        self._replace = replace
        self._binary = binary
        self._known: dict[str, _Fields] = {}

    def apply(self, message: Message) -> Message:
        """Replaces all texts in the message, and gives it back."""
        self._walk(message, self._fields(message.DESCRIPTOR))
        return message

    def _fields(self, kind: Descriptor) -> _Fields:
        """What to look at in messages of a kind; a kind that is within itself holds no text."""
        known = self._known.get(kind.full_name)
        if known is not None:
            return known
        found = self._known[kind.full_name] = _Fields()
        for entry in kind.fields:
            is_list = entry.is_repeated
            if entry.type == FieldDescriptor.TYPE_MESSAGE:
                below = self._fields(entry.message_type)
                if below.is_needed:
                    (found.message_lists if is_list else found.messages).append((entry.name, below))
            elif entry.type == FieldDescriptor.TYPE_BYTES and entry.name == BINARY:
                found.has_binary = True
            elif entry.type == FieldDescriptor.TYPE_BYTES:
                (found.text_lists if is_list else found.texts).append(entry.name)
        return found

    def _walk(self, message: Message, fields: _Fields) -> None:
        for name in fields.texts:
            if message.HasField(name):
                setattr(message, name, self._replace(getattr(message, name)))
        for name in fields.text_lists:
            values = getattr(message, name)
            values[:] = [self._replace(value) for value in values]
        for name, below in fields.messages:
            if message.HasField(name):
                self._walk(getattr(message, name), below)
        for name, below in fields.message_lists:
            for inner in getattr(message, name):
                self._walk(inner, below)
        if fields.has_binary and message.HasField(BINARY):
            self._binary(message)
