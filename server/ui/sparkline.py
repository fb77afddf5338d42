"""Small curves, such as of step times, as figures of an SVG: drawn on the server, shown without a script.

The scale begins at zero, so that steps that are alike look alike. Pure arithmetic; `ui.sparkline` of
`templates/site/_parts.html` makes the markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

_HEADROOM = 1.08
"""So much higher than the greatest value is the scale, so that its line is not cut."""


@dataclass(frozen=True)
class Sparkline:
    """A curve in a box.

    Attributes:
        width, height: of the box, in its own units.
        line: points of the curve, as `<polyline>` takes them.
        area: points of what is below it, as `<polygon>` takes them.
        average_y: height of the average, counted from above.
        words: what it shows, for those who don't see it.
    """

    width: int
    height: int
    line: str
    area: str
    average_y: str
    words: str


def sparkline(
    values: Sequence[float],
    words: str,
    width: int = 120,
    height: int = 32,
    greatest: float = 0.0,
) -> Sparkline | None:
    """A curve of these values from left to right; None where there are none to draw.

    Args:
        values: zero or more; what is no number or below zero is left out.
        words: what the curve shows.
        width: of the box.
        height: of the box.
        greatest: a value that the scale reaches at least, so that several curves have the same one.
    """
    usable = [value for value in values if isfinite(value) and value >= 0]
    if not usable:
        return None
    top = max(greatest, *usable) * _HEADROOM or 1.0
    # One value is a level line.
    shown = usable if len(usable) > 1 else usable * 2
    across = width / (len(shown) - 1)

    def y(value: float) -> str:
        return _short(height - value / top * height)

    points = [f"{_short(number * across)},{y(value)}" for number, value in enumerate(shown)]
    line = " ".join(points)
    area = f"0,{height} {line} {width},{height}"
    return Sparkline(width, height, line, area, y(sum(usable) / len(usable)), words)


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
