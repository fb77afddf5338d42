"""Reads a filter piece by piece: words, names, comparators and values, each with its position.

Knows no field and no meaning. A value may be written bare or in quotes; `*` in either stands for any text,
and a backslash before it, in quotes, makes it an ordinary character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from server.filters.errors import FilterError
from server.names import has_controls

_BLANKS = re.compile(r"\s*")
_NAME = re.compile(r"[^\s()\"'\\=<>!:,.]+")
_COMPARATOR = re.compile(r"<=|>=|!=|=|<|>|:")
_BARE = re.compile(r"[^\s()\"'\\,=<>!]+")
_UNICODE = re.compile(r"[0-9a-fA-F]{4}")
_WORDS = frozenset({"AND", "OR", "NOT"})
_SHORT_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_PLAIN_ESCAPES = frozenset("\"'\\/*")
_MOST_STARS = 4


@dataclass(frozen=True)
class Value:
    """The right side of a condition.

    Attributes:
        pieces: the texts before, between and after the stars; a single one where there is no star.
        is_quoted: whether it was written in quotes.
        position: of its first character.
    """

    pieces: tuple[str, ...]
    is_quoted: bool
    position: int

    @property
    def has_stars(self) -> bool:
        """Whether a `*` in it stands for any text."""
        return len(self.pieces) > 1

    @property
    def is_star(self) -> bool:
        """Whether it is `*` alone, not in quotes."""
        return not self.is_quoted and self.pieces == ("", "")

    @property
    def text(self) -> str:
        """It as it reads, where there is no star."""
        return "*".join(self.pieces)


class Scanner:
    """A place in a filter, which moves on with everything that is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0
        self._skip_blanks()

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.position == len(self._text)

    def take(self, character: str) -> bool:
        """Whether this character comes next; if so, it is read."""
        if not self._text.startswith(character, self.position):
            return False
        self._move(self.position + len(character))
        return True

    def take_word(self, word: str) -> bool:
        """Whether this whole word comes next; if so, it is read."""
        found = _NAME.match(self._text, self.position)
        if found is None or found[0] != word:
            return False
        self._move(found.end())
        return True

    def name(self) -> tuple[str, ...]:
        """The parts of a name such as `labels.team` or `labels."a.b"`.

        Raises:
            FilterError: there is none.
        """
        parts = [self._name_part('Write a condition here, as in runSet = "llama".')]
        while self._text.startswith(".", self.position):
            self.position += 1
            parts.append(self._name_part("Write the next part of the name after the dot."))
        self._skip_blanks()
        return tuple(parts)

    def comparator(self) -> str:
        """A comparator.

        Raises:
            FilterError: there is none.
        """
        found = _COMPARATOR.match(self._text, self.position)
        if found is None:
            raise FilterError(self.position, "Write one of = != < <= > >= : here.")
        self._move(found.end())
        return found[0]

    def value(self) -> Value:
        """A bare or quoted value.

        Raises:
            FilterError: there is none, or it can't be read.
        """
        start = self.position
        if self._text[start : start + 1] in {'"', "'"}:
            pieces = self._quoted()
        else:
            found = _BARE.match(self._text, start)
            if found is None:
                raise FilterError(start, "Write a value here; one with blanks or signs in quotes.")
            self.position = found.end()
            pieces = found[0].split("*")
        if any(has_controls(piece) for piece in pieces):
            raise FilterError(start, "A value can't hold control characters.")
        if len(pieces) > _MOST_STARS + 1:
            raise FilterError(start, f"A value can hold {_MOST_STARS} stars at most.")
        is_quoted = self._text[start] in {'"', "'"}
        self._skip_blanks()
        return Value(tuple(pieces), is_quoted, start)

    def _name_part(self, expected: str) -> str:
        start = self.position
        if self._text[start : start + 1] in {'"', "'"}:
            part = "*".join(self._quoted())
        else:
            found = _NAME.match(self._text, start)
            if found is None or found[0] in _WORDS:
                raise FilterError(start, expected)
            self.position = found.end()
            part = found[0]
        if has_controls(part) or '"' in part or "\\" in part:
            message = "A name can't hold quotes, backslashes and control characters."
            raise FilterError(start, message)
        return part

    def _quoted(self) -> list[str]:
        """Pieces of a text in quotes, between the stars in it."""
        start, quote = self.position, self._text[self.position]
        pieces = [""]
        position = start + 1
        while position < len(self._text):
            character = self._text[position]
            if character == quote:
                self.position = position + 1
                return pieces
            if character == "*":
                pieces.append("")
                position += 1
                continue
            if character == "\\":
                character, position = self._escaped(position)
            else:
                position += 1
            pieces[-1] += character
        raise FilterError(start, "The quote that begins here has no end.")

    def _escaped(self, position: int) -> tuple[str, int]:
        """The character that a backslash at this position stands for, and the position after it."""
        sign = self._text[position + 1 : position + 2]
        if sign in _PLAIN_ESCAPES and sign:
            return sign, position + 2
        if sign in _SHORT_ESCAPES:
            return _SHORT_ESCAPES[sign], position + 2
        code = _UNICODE.match(self._text, position + 2) if sign == "u" else None
        if code is None:
            message = "A backslash stands before \" ' \\ * or uXXXX only."
            raise FilterError(position, message)
        first, after = int(code[0], 16), code.end()
        low = _UNICODE.match(self._text, after + 2) if self._text.startswith("\\u", after) else None
        # As in JSON, a character beyond 16 bits is written as two halves.
        if 0xD800 <= first < 0xDC00 and low is not None and 0xDC00 <= int(low[0], 16) < 0xE000:
            second = int(low[0], 16)
            return chr(0x10000 + ((first - 0xD800) << 10) + second - 0xDC00), low.end()
        return chr(first), after

    def _move(self, position: int) -> None:
        self.position = position
        self._skip_blanks()

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self._text, self.position)
        if found is not None:
            self.position = found.end()
