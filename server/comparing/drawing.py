"""Step times as bars: both sessions on one scale, so that the eye compares what the numbers say. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 240, 56
"""Size of a drawing in units of its own."""


@dataclass(frozen=True)
class StepDrawing:
    """The bars of one session.

    Attributes:
        bars: an SVG path of all of them; empty without steps.
        average: height of the average's line from the top; None without one.
        spoken: the same in words.
    """

    bars: str
    average: float | None
    spoken: str


def draw_steps(
    times: Sequence[float], average: float | None, longest: float, spoken: str
) -> StepDrawing:
    """The bars of one session.

    Args:
        times: step times, in any unit.
        average: their average in that unit.
        longest: the time that is as high as the drawing: the longest of both sessions.
        spoken: what the drawing shows, in words.
    """
    if not times or longest <= 0:
        return StepDrawing("", None, spoken)
    width = WIDTH / len(times)
    gap = min(1.0, width / 4)
    bars = "".join(
        f"M{number * width:.2f} {HEIGHT}v{-HEIGHT * min(time / longest, 1):.2f}"
        f"h{width - gap:.2f}V{HEIGHT}z"
        for number, time in enumerate(times)
    )
    height = None if average is None else round(HEIGHT * (1 - min(average / longest, 1)), 2)
    return StepDrawing(bars, height, spoken)
