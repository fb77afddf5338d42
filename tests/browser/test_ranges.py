"""What of a trace's range an address holds: arithmetic, without a trace."""

from __future__ import annotations

import pytest

from tests.browser.modules import Modules

CLIP = """const { clipRange } = await load("remember/range.js");
return clipRange(argument[0], argument[1]);"""
TEXTS = """const { rangeTexts } = await load("remember/range.js"); return rangeTexts(argument);"""
TRACE = {"min": 100.0, "max": 200.0}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"min": 120, "max": 130}, {"min": 120, "max": 130}),
        # XProf itself shows 15 % beside a trace, and so much of a range may be empty.
        ({"min": -500, "max": 130}, {"min": 85, "max": 130}),
        ({"min": 150, "max": 9000}, {"min": 150, "max": 215}),
        ({"min": 90, "max": 210}, None),
        ({"min": 300, "max": 310}, None),
        ({"min": 0, "max": 100}, None),
        ({"min": 130, "max": 130}, None),
    ],
)
def test_only_what_shows_something(
    modules: Modules, wanted: dict[str, float], expected: dict[str, float] | None
) -> None:
    assert modules.run(CLIP, [wanted, TRACE]) == expected


@pytest.mark.parametrize(
    ("minimum", "width"), [(0.0, 5e6), (5.123456789, 0.25), (3_600_000.123456, 1e-4)]
)
def test_rounding_moves_no_pixel(modules: Modules, minimum: float, width: float) -> None:
    maximum = minimum + width
    texts = modules.run(TEXTS, {"min": minimum, "max": maximum})
    assert abs(float(texts["view_start"]) - minimum) <= width / 5000
    assert abs(float(texts["view_end"]) - maximum) <= width / 5000
    assert len(texts["view_start"]) <= 20
