"""Stable pseudonyms for the texts of profiles.

A text is taken apart into words; a word keeps its meaning (`loader.redaction.vocabulary`) or becomes a
pseudonym, and what stands between words stays. So a name has the same pseudonym by itself and inside of a
longer text, in every host, tool and session of this service, and XProf joins what it joined before. The
pseudonym is a code under a key (HMAC-SHA256), so that nobody can try out guesses.
"""

from __future__ import annotations

import hashlib
import hmac
import re

from loader.redaction.vocabulary import (
    FILE_ENDINGS,
    ITERATOR,
    ITERATORS,
    PATTERNS,
    TENSOR_CORE_MARKS,
    TEXTS,
    WORDS,
)

_FORMAT = b"1"
"""Raised with every change of what is kept or how it is replaced, so that old answers are not found again."""
_CODE_BYTES = 6
_LETTERS = bytes.maketrans(b"0123456789abcdef", b"bcdfghjklnpqrstv")
"""No vowel, digit or `m`: no code is a word, a number, or one of XProf's marks of kernels."""
_LONGEST = 64 << 10
_KEPT_BYTES = 32 << 20
"""Of remembered texts; a profile seldom has more, and then some are worked out again."""

_LETTER = r"A-Za-z0-9_.@\-\x80-\U0010ffff"
_WORD = re.compile(rf"[{_LETTER}][{_LETTER}$]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PROGRAM = re.compile(rf"([{_LETTER}][{_LETTER}$]*)\((\d{{1,20}})\)")
"""A program with its id, by which XProf finds its HLO."""
_NUMBERED = re.compile(r"(.+?)(?:\.\d+)+")
_PART = re.compile(r"[_-]")
_HLO = re.compile(r"(ROOT )?(%?)([\w.\-]+) = ")
_NUMBER = re.compile(r"-?\d{1,20}")
_CONSTANT = re.compile(r"constant\([^()]*\)?")
_ATTRIBUTE = re.compile(r", (kind|calls)=(%?)([\w.\-]+)")
_OPENING, _CLOSING = "([{", ")]}"


class Pseudonyms:
    """Replaces texts. Thread-safe.

    Attributes:
        mark: names the key and the way of replacing, and tells nothing of the key; part of cache keys.
    """

    def __init__(self, secret: str) -> None:
        """Takes a key of its own.

        Args:
            secret: known to this service only; as long as it stays, so do the pseudonyms.
        """
        self._key = hmac.digest(secret.encode(), b"pseudonyms of redacted links", "sha256")
        self.mark = hashlib.sha256(b"mark of pseudonyms " + _FORMAT + self._key).hexdigest()[:16]
        self._known: dict[str, str] = {}
        self._size = 0

    def text(self, text: str) -> str:
        """What stands in place of a text."""
        found = self._known.get(text)
        if found is None:
            found = self._replaced(text)
            self._size += len(text) + len(found)
            if self._size > _KEPT_BYTES:
                self._known, self._size = {}, len(text) + len(found)
            self._known[text] = found
        return found

    def encoded(self, raw: bytes) -> bytes:
        """The same of a text as it stands in a file; bytes that are no UTF-8 count as letters."""
        return self.text(raw.decode(errors="surrogateescape")).encode()

    def _replaced(self, text: str) -> str:
        if text in TEXTS or PATTERNS.fullmatch(text):
            return text
        if len(text) > _LONGEST:
            return self._code("text", text)
        if (head := _HLO.match(text)) is not None:
            return self._instruction(head, text)
        if (program := _PROGRAM.fullmatch(text)) is not None:
            return f"{self._word(program[1])}({program[2]})"
        return self._words(text, ITERATORS if text.startswith(ITERATOR) else frozenset())

    def _words(self, text: str, more: frozenset[str] = frozenset()) -> str:
        """The text with each of its words replaced, but for those that are kept anyway, and some more."""

        def replaced(found: re.Match[str]) -> str:
            return found[0] if found[0] in more else self._word(found[0])

        return _CONTROL.sub(" ", _WORD.sub(replaced, text))

    def _word(self, word: str) -> str:
        """A name or a part of one; of a compiler's own name only its number becomes a code."""
        if word in WORDS:
            return word
        numbered = _NUMBERED.fullmatch(word)
        stem = numbered[1] if numbered else word
        if _is_made_of_words(stem):
            return f"{stem}.{self._code('', word)}"
        lead = "jit_" if word.startswith("jit_") else "N" if word[0].isupper() else "n"
        tail = next((ending for ending in FILE_ENDINGS if word.endswith(ending)), "")
        marks = next((f"_{mark}" for mark in TENSOR_CORE_MARKS if mark in word), "")
        return f"{self._code(lead, word)}{marks}{tail}"

    def _code(self, lead: str, text: str) -> str:
        digest = hmac.digest(self._key, text.encode(errors="surrogateescape"), "sha256")
        return lead + digest[:_CODE_BYTES].hex().encode().translate(_LETTERS).decode()

    def _instruction(self, head: re.Match[str], text: str) -> str:
        """An HLO instruction: its name, shape, opcode and operands; of its attributes the harmless ones."""
        start = _end_of_shape(text, head.end())
        bracket = text.find("(", start) if start >= 0 else -1
        if text[start:bracket] not in WORDS:  # it only looks like one
            return self._words(text)
        end = _end_of_brackets(text, bracket)
        body = _CONSTANT.sub("constant()", text[head.end() : end if end >= 0 else len(text)])
        attributes = _ATTRIBUTE.findall(text, end) if end >= 0 else []
        rest = "".join(f", {key}={mark}{self._word(word)}" for key, mark, word in attributes)
        return f"{head[1] or ''}{head[2]}{self._word(head[3])} = {self._operands(body)}{rest}"

    def _operands(self, text: str) -> str:
        """Shapes with their numbers, opcodes, and the names of operands."""

        def replaced(found: re.Match[str]) -> str:
            return found[0] if _NUMBER.fullmatch(found[0]) else self._word(found[0])

        return _CONTROL.sub(" ", _WORD.sub(replaced, text))


def _is_made_of_words(stem: str) -> bool:
    """Whether a name consists of opcodes and such only, as compilers name fusions."""
    return stem in WORDS or all(part in WORDS for part in _PART.split(stem))


def _end_of_shape(text: str, start: int) -> int:
    """Where the opcode begins after the shape that starts here; -1 when it never does."""
    if text[start : start + 1] == "(":
        start = _end_of_brackets(text, start)
    return -1 if start < 0 else text.find(" ", start) + 1 or -1


def _end_of_brackets(text: str, start: int) -> int:
    """Behind the bracket that closes the one at the position; -1 when none does."""
    if start < 0:
        return -1
    depth = 0
    for position in range(start, len(text)):
        if text[position] in _OPENING:
            depth += 1
        elif text[position] in _CLOSING:
            depth -= 1
            if depth == 0:
                return position + 1
    return -1
