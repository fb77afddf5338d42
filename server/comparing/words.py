"""A comparison's numbers as people read them: four digits, the same unit on both sides of a row. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from server.comparing.values import Change
from server.ui import words

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_NOTEWORTHY_PERCENT = 1.0
"""Smaller changes get no colour: two captures of the same program differ as much."""
Reader = Callable[[float], str]


@dataclass(frozen=True)
class Row:
    """One line of a table of two sides.

    Attributes:
        label: what it is.
        left: the left side's text.
        right: the right side's.
        difference: right minus left with its sign; empty when a side is missing.
        percent: the same in percent of the left side; may be empty.
        mood: `good`, `bad` or `quiet`.
        note: what the label means; may be empty.
    """

    label: str
    left: str
    right: str
    difference: str
    percent: str
    mood: str
    note: str = ""


def row(label: str, change: Change, read: Reader, *, better: int = 0, note: str = "") -> Row | None:
    """A line, or None when no side says anything.

    Args:
        label: what it is.
        change: the numbers.
        read: makes a text of a number.
        better: 1 if more is better, -1 if less is, 0 if neither.
        note: what the label means.
    """
    if not change.is_known:
        return None
    return Row(
        label,
        side_text(change.left, read),
        side_text(change.right, read),
        signed(change.difference, read),
        percent_text(change.percent),
        mood_of(change, better),
        note,
    )


def side_text(value: float | None, read: Reader) -> str:
    """A side's number."""
    return NOTHING if value is None else read(value)


def signed(value: float | None, read: Reader) -> str:
    """A difference with its sign; empty when there is none."""
    if value is None:
        return ""
    sign = "+" if value > 0 else _MINUS if value < 0 else "±"
    return f"{sign}{read(abs(value))}"


def percent_text(value: float | None) -> str:
    """A change in percent with its sign; empty when it says nothing."""
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{'+' if value > 0 else _MINUS}{significant(abs(value), 2)} %"
    rounded = round(value, 1) + 0.0
    sign = "+" if rounded > 0 else _MINUS if rounded < 0 else "±"
    return f"{sign}{abs(rounded):.1f} %"


def mood_of(change: Change, better: int) -> str:
    """Whether a change is good or bad news; `quiet` for one that is small or neither."""
    difference, percent = change.difference, change.percent
    is_small = percent is not None and abs(percent) < _NOTEWORTHY_PERCENT
    if not better or not difference or is_small:
        return "quiet"
    return "good" if difference * better > 0 else "bad"


def significant(value: float, digits: int = 4) -> str:
    """A number with so many digits that say something, never with an exponent."""
    if not value or not math.isfinite(value):
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(places, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def milliseconds(value: float) -> str:
    """A time of a step."""
    return f"{significant(value)} ms"


def microseconds(value: float) -> str:
    """A time of an operation."""
    return f"{significant(value)} µs"


def percentage(value: float) -> str:
    """A share in percent."""
    return f"{significant(value, 3)} %"


def share(value: float) -> str:
    """A share of 1 in percent."""
    return f"{100 * value:.1f} %"


def count(value: float) -> str:
    """A number of things."""
    return words.number(int(value))


def size(value: float) -> str:
    """A number of bytes."""
    return words.size(value)
