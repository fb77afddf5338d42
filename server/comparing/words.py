"""A comparison's numbers as people read them: four digits of the larger side, as many decimals for both."""

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
Reader = Callable[[float, float], str]
"""Makes a text of a number, as fine as suits the other number, the largest that stands beside it."""


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
    scale = scale_of(change)
    is_share = read is percentage
    return Row(
        label,
        side_text(change.left, read, scale),
        side_text(change.right, read, scale),
        signed(change.difference, points if is_share else read, scale),
        # Percent of percent would be read as one or the other.
        "" if is_share else percent_text(change.percent),
        mood_of(change, better),
        note,
    )


def scale_of(change: Change) -> float:
    """The larger one of both sides."""
    return max(abs(change.left or 0.0), abs(change.right or 0.0))


def side_text(value: float | None, read: Reader, scale: float) -> str:
    """A side's number."""
    return NOTHING if value is None else read(value, scale)


def signed(value: float | None, read: Reader, scale: float) -> str:
    """A difference with its sign; empty when there is none."""
    if value is None:
        return ""
    text = read(abs(value), scale)
    is_nothing = not any(digit in text for digit in "123456789")
    sign = "±" if is_nothing else "+" if value > 0 else _MINUS
    return f"{sign}{text}"


def percent_text(value: float | None) -> str:
    """A change in percent with its sign; empty when it says nothing."""
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{'+' if value > 0 else _MINUS}{abs(value):.0f} %"
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


def decimals_for(scale: float, digits: int = 4) -> int:
    """Decimals that give a number of this size so many digits that say something; six at most."""
    if not scale or not math.isfinite(scale):
        return 0
    return min(max(0, digits - 1 - math.floor(math.log10(scale))), 6)


def milliseconds(value: float, scale: float) -> str:
    """A time of a step."""
    return f"{value:.{decimals_for(scale)}f} ms"


def microseconds(value: float, scale: float) -> str:
    """A time of an operation."""
    return f"{value:.{decimals_for(scale)}f} µs"


def percentage(value: float, _scale: float) -> str:
    """A share in percent."""
    return f"{value:.1f} %"


def points(value: float, _scale: float) -> str:
    """A difference of shares."""
    return f"{value:.1f} points"


def share(value: float) -> str:
    """A share of 1 in percent."""
    return f"{100 * value:.1f} %"


def count(value: float, _scale: float) -> str:
    """A number of things."""
    return words.number(int(value))


def size(value: float, _scale: float) -> str:
    """A number of bytes."""
    return words.size(value)
