"""A comparison's numbers in words: as many decimals on both sides, signs, and what is good news."""

from __future__ import annotations

import pytest

from server.comparing import words
from server.comparing.values import Change

MINUS = "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (1.569288, 1.544, ("1.569 ms", "1.544 ms", f"{MINUS}0.025 ms", f"{MINUS}1.6 %")),
        (1187.4, 9.5, ("1187 ms", "10 ms", f"{MINUS}1178 ms", f"{MINUS}99.2 %")),
        (0.00012, 0.0, ("0.000120 ms", "0.000000 ms", f"{MINUS}0.000120 ms", f"{MINUS}100.0 %")),
        (2.0, 2.0, ("2.000 ms", "2.000 ms", "±0.000 ms", "±0.0 %")),
        (100.0, 100.00001, ("100.0 ms", "100.0 ms", "±0.0 ms", "±0.0 %")),
        (0.0, 5.0, ("0.000 ms", "5.000 ms", "+5.000 ms", "")),
        (1.0, 50.0, ("1.00 ms", "50.00 ms", "+49.00 ms", "+4900 %")),
        (None, 5.0, ("\N{EN DASH}", "5.000 ms", "", "")),
    ],
)
def test_both_sides_have_as_many_decimals(
    left: float | None, right: float | None, expected: tuple[str, ...]
) -> None:
    row = words.row("x", Change(left, right), words.milliseconds)
    assert row is not None
    assert (row.left, row.right, row.difference, row.percent) == expected


def test_shares_differ_by_points() -> None:
    row = words.row("x", Change(85.4, 90.3), words.percentage)
    assert row is not None
    assert (row.left, row.right, row.difference, row.percent) == (
        "85.4 %",
        "90.3 %",
        "+4.9 points",
        "",
    )


def test_what_nobody_says_is_no_row() -> None:
    assert words.row("x", Change(None, None), words.count) is None


@pytest.mark.parametrize(
    ("change", "better", "mood"),
    [
        (Change(2.0, 1.0), -1, "good"),
        (Change(1.0, 2.0), -1, "bad"),
        (Change(1.0, 2.0), 1, "good"),
        (Change(1.0, 2.0), 0, "quiet"),
        (Change(100.0, 100.9), -1, "quiet"),
        (Change(100.0, 101.1), -1, "bad"),
        (Change(0.0, 1.0), -1, "bad"),
        (Change(1.0, 1.0), -1, "quiet"),
        (Change(None, 1.0), -1, "quiet"),
    ],
)
def test_small_changes_are_no_news(change: Change, better: int, mood: str) -> None:
    assert words.mood_of(change, better) == mood
