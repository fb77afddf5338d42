"""Source maps (ECMA-426): they lead a debugger from whole lines of a made script to lines of its sources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


@dataclass(frozen=True)
class SourceLine:
    """A line of a source: the file's path beside the map, and the line's number from 0."""

    source: str
    number: int


def make_source_map(name: str, origins: Sequence[SourceLine | None]) -> str:
    """The map of a script as JSON.

    Args:
        name: the script's name.
        origins: for each of its lines where it comes from, None for lines that were made.
    """
    sources = list(dict.fromkeys(origin.source for origin in origins if origin))
    mappings = ";".join(_segments(origins, sources))
    content = {"version": 3, "file": name, "sources": sources, "names": [], "mappings": mappings}
    return json.dumps(content, separators=(",", ":"))


def _segments(origins: Sequence[SourceLine | None], sources: Sequence[str]) -> Iterator[str]:
    """One segment for the start of each line: column, source, line, column; all but the first relative."""
    places = {source: index for index, source in enumerate(sources)}
    source, line = 0, 0
    for origin in origins:
        if origin is None:
            yield ""
            continue
        index = places[origin.source]
        yield "".join(map(_digits, (0, index - source, origin.number - line, 0)))
        source, line = index, origin.number


def _digits(value: int) -> str:
    """A number as base64 VLQ: five bits a digit, the sixth for "more follow"; the sign is the lowest bit."""
    rest = abs(value) << 1 | (value < 0)
    text = ""
    while True:
        digit, rest = rest & 31, rest >> 5
        text += _DIGITS[digit | (32 if rest else 0)]
        if not rest:
            return text
