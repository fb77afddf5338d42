"""What a profile says in words, and which of these words an answer repeats.

Collected apart from the code that redacts: every text in the profile and in its HLO, whatever field it is in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from loader.inspection.wire import Walker, WireError
from loader.redaction.vocabulary import ITERATORS, PATTERNS, TEXTS, WORDS

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{3,}")
_PARTS = re.compile(r"[_.\-]")
_SUBSTRING = 7
"""Shorter names count only as words of their own: XProf's own words hold some of them."""
_KEPT = {part for text in (*TEXTS, *WORDS, *ITERATORS) for part in _NAME.findall(text)} | WORDS
_LONGEST = 1 << 20


def names_in(profile: Path) -> set[str]:
    """The names in a profile that a redacted answer may not hold."""
    found: set[str] = set()
    for text in texts_in(profile.read_bytes()):
        if not PATTERNS.fullmatch(text):
            found.update(name for name in _NAME.findall(text) if not _is_kept(name))
    return found


def texts_in(data: bytes) -> set[str]:
    """Everything in a message, at any depth, that reads like a text."""
    texts: set[str] = set()
    _collect(Walker(data, 1 << 40), 0, len(data), texts)
    return texts


def _collect(walker: Walker, start: int, end: int, texts: set[str]) -> None:
    for tag, first, last in walker.fields(start, end):
        if tag & 7 != 2 or last - first < 4:
            continue
        raw = walker.data[first:last] if last - first < _LONGEST else b"\xff"
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = ""
        if text.isprintable() and text:
            texts.add(text)
            continue
        try:
            _collect(walker, first, last, texts)
        except WireError:
            continue


def _is_kept(name: str) -> bool:
    """Whether a name is of the vocabulary, or a compiler's of nothing but such words."""
    return name in _KEPT or all(part in WORDS or part.isdigit() for part in _PARTS.split(name))


def words_in(answer: bytes) -> set[str]:
    """The words of an answer."""
    return _words(answer.decode(errors="replace"))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z0-9_.\-]+", text))


def repeated(names: Iterable[str], answer: bytes, headers: Mapping[str, str]) -> set[str]:
    """Those of the names that an answer holds, in any spelling of its bytes."""
    plain = answer.decode(errors="replace") + "\n" + "\n".join(headers.values())
    spellings = [plain]
    with suppress(ValueError):
        spellings.append(json.dumps(json.loads(answer), ensure_ascii=False))
    words = set().union(*(_words(text) for text in spellings))
    whole = {word.lower() for word in words} | {
        part.lower() for word in words for part in word.split(".")
    }
    together = "\n".join(whole)
    return {
        name
        for name in names
        if name.lower() in whole or (len(name) >= _SUBSTRING and name.lower() in together)
    }
