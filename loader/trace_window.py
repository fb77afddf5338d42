"""Widens a trace viewer's zoom so that neighbouring requests ask for the same answer.

XProf's page asks for exactly the window of time around its screen, with a detail that follows from the
screen's width in pixels: no two people, and no two moments of a drag, ask for the same. Here the window
moves to a grid that depends on its width alone, and the detail to one of few steps, both only ever upwards:
nothing that was asked may be missing. This rests on facts of xprof 2.24.2 (measured, docs/adr/016):
`resolution` is the number of events per row that can be told apart in the window, so a wider one needs a
higher number; an event at least as long as window / resolution is always in the answer; the page keeps
what it asked for as the window that it has, and merges whatever else comes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from loader.engine.base import OptionValue

_LEAST_STEPS = 9
"""A window is at least this many steps of its grid wide, so that two more steps are less than a quarter."""
_MOST_STEPS = 2 * _LEAST_STEPS
_ROUNDING = 1e-9
"""A dragged window keeps its width but for the rounding of its ends, far less than this part of it."""
_MOST_GRID_STEPS = 2.0**50
"""From zero to the start; beyond, floating point could not tell neighbouring steps apart."""
_DEFAULT_DETAIL = 8000
"""What XProf takes when nothing is asked; its page asks for more above some 2,600 pixels only."""
_SKETCH = 1000
"""Whoever asks for so little wants no screen full of events, and gets no more than a wider window needs."""
_MOST_DETAIL = 2**60
"""XProf reads 64 bits; above this, raising could leave them."""


def snap_window(options: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """The trace viewer's canonical options with window and detail moved to the grid.

    Times are milliseconds as text, detail (`resolution`) a whole number. The window becomes at most a
    quarter wider. These stay as they are: a question about one event or for a text, a window without start
    or end, a negative start (which XProf takes for something else), an end that is not after the start, and
    what is on the grid already.
    """
    if options.get("event_name") or options.get("search_prefix"):
        return dict(options)
    asked = _window(options)
    snapped = asked and _on_grid(*asked)
    detail = int(options["resolution"])
    if detail > _MOST_DETAIL:
        return dict(options)
    return {
        **options,
        "resolution": str(_raised(detail, is_wider=snapped != asked)),
        **(_texts(*snapped) if snapped else {}),
    }


def _window(options: Mapping[str, OptionValue]) -> tuple[float, float] | None:
    """Start and end in milliseconds, if they are a window that can be snapped."""
    if "start_time_ms" not in options or "end_time_ms" not in options:
        return None
    start, end = float(options["start_time_ms"]), float(options["end_time_ms"])
    width = end - start
    if start < 0 or width <= 0 or not math.isfinite(width):
        return None
    return (start, end) if start / _step(width) < _MOST_GRID_STEPS else None


def _texts(start: float, end: float) -> dict[str, OptionValue]:
    return {"start_time_ms": repr(start), "end_time_ms": repr(end)}


def _step(width: float) -> float:
    """The largest power of two of which `_LEAST_STEPS` fit into the width: exact in floating point."""
    return math.ldexp(1.0, math.frexp(width * (1 + _ROUNDING) / _LEAST_STEPS)[1] - 1)


def _on_grid(start: float, end: float) -> tuple[float, float]:
    """The window on the grid of its width."""
    step = _step(end - start)
    if start % step == 0 and end % step == 0:
        return start, end
    first, last = _cover(start, end, step)
    if last - first < _MOST_STEPS * step:
        return first, last
    # Wide enough for the next grid: taking that at once makes snapping twice a no-op.
    return _cover(start, end, 2 * step)


def _cover(start: float, end: float, step: float) -> tuple[float, float]:
    """Lines of the grid around the window.

    How many steps they are apart depends on the window's width only, so that a drag meets a new answer only
    where its start passes a line.
    """
    steps = math.ceil((end - start) * (1 - _ROUNDING) / step) + 1
    first = math.floor(start / step) * step
    if first + steps * step < end:
        steps += 1
    return first, first + steps * step


def _raised(detail: int, is_wider: bool) -> int:
    """The next step of detail: 8000 times a power of two, and a quarter more for a wider window."""
    step = _DEFAULT_DETAIL
    while step < detail:
        step *= 2
    if is_wider:
        return _quarter_more(detail if detail <= _SKETCH else step)
    # Otherwise what an earlier snapping made stays.
    is_step = detail <= _quarter_more(_SKETCH) or detail == _quarter_more(step // 2)
    return detail if is_step else step


def _quarter_more(detail: int) -> int:
    return -(-detail * 5 // 4)
