"""What others have named, made harmless for a terminal: no name moves the cursor, colours or turns text.

A hub's answers hold file names out of buckets and texts from jobs, and the hub itself may be somebody else's.
"""

from __future__ import annotations

import re
import unicodedata

import typer

_KEPT = "\n\t"
# Zero-width joiners belong to how some scripts and emoji are written.
_HARMLESS = frozenset("\u200c\u200d")
_UNSEEN_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def plain(text: str) -> str:
    """A text whose control and direction characters are shown as a replacement character."""
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def plain_json(text: str) -> str:
    """JSON that means the same, with such characters escaped."""
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def print_line(text: str = "") -> None:
    """Prints a line of an answer."""
    typer.echo(plain(text))


def _shown(character: str) -> str:
    if character in _KEPT or character in _HARMLESS:
        return character
    is_odd = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    return "\N{REPLACEMENT CHARACTER}" if is_odd else character
