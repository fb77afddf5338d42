"""Careful looks into a parsed answer of XProf: whatever has another shape than expected is not there.

Answers are made from profiles, which anybody may have written: a number may be a text, infinite, negative or
of a thousand digits, and a name may be a megabyte long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from server.figures.values import MOST_NAME

_LARGEST = 1e18
"""No time in microseconds and no size in bytes of a real profile is larger."""
_END = 60
"""Characters that stay of the end of a long name."""
_LONGEST_TEXT = 100_000


def mapping(value: object) -> Mapping[str, object]:
    """The JSON object that a value is; empty when it is none."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[object]:
    """The JSON list that a value is; empty when it is none."""
    return value if isinstance(value, list) else ()


def amount(value: object) -> float | None:
    """A number that is finite and not negative, or a short text that says one; None for all else."""
    if isinstance(value, str) and len(value) <= 32:
        try:
            value = float(value.strip().removesuffix("%"))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LARGEST and math.isfinite(value) else None


def whole(value: object) -> int | None:
    """Such a number without its fraction."""
    found = amount(value)
    return None if found is None else int(found)


def name(value: object) -> str:
    """A text in one line, without its middle where it is long; empty when there is none."""
    if not isinstance(value, str):
        return ""
    if len(value) > _LONGEST_TEXT:
        value = value[:MOST_NAME] + value[-MOST_NAME:]
    # A half of a pair has no encoding, and PostgreSQL keeps no zero.
    text = " ".join(value.replace("\0", "").split()).encode("utf-8", "replace").decode()
    if len(text) <= MOST_NAME:
        return text
    # Names that begin alike, such as those of fused operations, still end differently.
    return f"{text[: MOST_NAME - _END - 1]}…{text[-_END:]}"


def properties(answer: object, place: int) -> Mapping[str, object]:
    """The properties of one of an answer's tables."""
    tables = sequence(answer)
    return mapping(mapping(tables[place]).get("p")) if place < len(tables) else {}


def rows(answer: object, place: int) -> Iterator[Mapping[str, object]]:
    """The rows of one of an answer's tables, each by its columns' ids."""
    tables = sequence(answer)
    table = mapping(tables[place]) if place < len(tables) else {}
    ids = [mapping(column).get("id") for column in sequence(table.get("cols"))]
    for row in sequence(table.get("rows")):
        cells = sequence(mapping(row).get("c"))
        yield {
            column: mapping(cell).get("v")
            for column, cell in zip(ids, cells, strict=False)
            if isinstance(column, str)
        }
