"""Small curves: their points by arithmetic, and nothing drawn of what is no number."""

from __future__ import annotations

import math

import pytest

from server.ui.sparkline import sparkline


def points(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in text.split())]


def test_points_go_from_left_to_right_on_a_scale_from_zero() -> None:
    curve = sparkline([0, 50, 100], "Step time", width=100, height=54)
    assert curve is not None
    # The top of the scale is 108, so that 100 is at 54 - 100/108 * 54 = 4.
    assert points(curve.line) == [(0, 54), (50, 29), (100, 4)]
    assert points(curve.area) == [(0, 54), (0, 54), (50, 29), (100, 4), (100, 54)]
    assert float(curve.average_y) == 29
    assert curve.words == "Step time"


def test_one_value_is_a_level_line() -> None:
    curve = sparkline([7], "one")
    assert curve is not None
    (first, second) = points(curve.line)
    assert first[1] == second[1]
    assert (first[0], second[0]) == (0, curve.width)


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, -1.0]])
def test_nothing_is_drawn_of_what_is_no_number(values: list[float]) -> None:
    assert sparkline(values, "nothing") is None


def test_zeros_are_a_line_at_the_bottom() -> None:
    curve = sparkline([0, 0], "idle", height=32)
    assert curve is not None
    assert {y for _, y in points(curve.line)} == {32}


def test_curves_can_share_a_scale() -> None:
    curve = sparkline([50, 50], "Step time", width=100, height=54, greatest=100)
    assert curve is not None
    assert curve.line == "0,29 100,29"
    assert curve.average_y == "29"
    alone = sparkline([50, 50], "Step time", width=100, height=54, greatest=10)
    assert alone == sparkline([50, 50], "Step time", width=100, height=54)
