"""Zoom windows: never less than was asked, at most a quarter more, and the same for neighbours."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from loader.engine.base import OptionValue
from loader.trace_window import snap_window

Options = Mapping[str, OptionValue]


def zoom(
    start: float | str, end: float | str, resolution: int | str = 8000
) -> dict[str, OptionValue]:
    return {
        "full_dma": False,
        "resolution": str(resolution),
        "start_time_ms": start if isinstance(start, str) else repr(start),
        "end_time_ms": end if isinstance(end, str) else repr(end),
    }


def numbers(options: Options) -> tuple[float, float, int]:
    return (
        float(options["start_time_ms"]),
        float(options["end_time_ms"]),
        int(options["resolution"]),
    )


def random_zooms(count: int) -> list[tuple[float, float, int]]:
    """Windows from a nanosecond to a quarter of an hour, on a time line of the same length."""
    chance = random.Random(3)
    found = []
    for _ in range(count):
        width = 10 ** chance.uniform(-6, 6)
        start = chance.choice([0.0, chance.uniform(0, 1e6), float(chance.randrange(10**6))])
        detail = chance.choice([1, 200, 999, 1000, 1001, 1250, 3400, 8000, 8001, 10_000, 60_000])
        found.append((start, start + width, detail))
    return found


def test_nothing_that_was_asked_is_left_out() -> None:
    for start, end, detail in random_zooms(20_000):
        first, last, finer = numbers(snap_window(zoom(start, end, detail)))
        assert first <= start
        assert last >= end
        assert last - first <= 1.25 * (end - start)
        assert finer / (last - first) >= detail / (end - start) * (1 - 1e-9)


def test_snapping_a_second_time_changes_nothing() -> None:
    for start, end, detail in random_zooms(20_000):
        once = snap_window(zoom(start, end, detail))
        assert snap_window(once) == once


def test_drags_by_a_hundredth_of_the_screen_mostly_meet_the_same_answer() -> None:
    chance = random.Random(7)
    drags = 100
    shares = []
    for _ in range(200):
        width = chance.choice([10 ** chance.uniform(-5, 5), 20.0, 16.0, 9.0])
        start = chance.uniform(10, 100) * width
        before = snap_window(zoom(start, start + width))
        same = 0
        for _ in range(drags):
            start += chance.uniform(-0.01, 0.01) * width
            after = snap_window(zoom(start, start + width))
            same += after == before
            before = after
        shares.append(same / drags)
    assert sum(shares) / len(shares) >= 0.9
    assert sorted(shares)[len(shares) // 20] >= 0.8


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        # 50 ms wide: 4 is the largest power of two of which nine fit. ceil(12.5) + 1 steps.
        (zoom("5000", "5050"), zoom(5000.0, 5056.0, 10_000)),
        (zoom("5003.9", "5053.9"), zoom(5000.0, 5056.0, 10_000)),
        (zoom("5004", "5054"), zoom(5004.0, 5060.0, 10_000)),
        # 17.5 steps of 1 ms would become 19, enough for the next grid: 8.75 steps of 2 ms become 10.
        (zoom("0.25", "17.75"), zoom(0.0, 20.0, 10_000)),
        # XProf's page writes the smallest number there is instead of 0.
        (zoom("5e-324", "10.5"), zoom(0.0, 12.0, 10_000)),
    ],
)
def test_windows_on_the_grid(asked: Options, answered: Options) -> None:
    assert snap_window(asked) == answered


@pytest.mark.parametrize(
    "options",
    [
        zoom("5000", "5056") | {"event_name": "dot.3", "duration_ms": "0.5"},
        zoom("5000.3", "5050") | {"search_prefix": "fusion", "resolution": "0"},
        zoom("-1", "10"),
        zoom("10", "5"),
        zoom("5", "5"),
        zoom("0", "1e308") | {"start_time_ms": "-1e308"},
        zoom("1000000.0000000001", "1000000.0000000002"),
        zoom("1", "2", 2**64 - 1),
        {"resolution": "8000", "start_time_ms": "5.3"},
        {"resolution": "8000", "end_time_ms": "5.3"},
        {"resolution": "8000", "full_dma": True},
        {"resolution": "0"},
    ],
)
def test_what_is_no_zoom_stays_as_it_is(options: Options) -> None:
    assert snap_window(options) == options


@pytest.mark.parametrize(
    ("asked", "whole", "zoomed"),
    [
        (0, 0, 0),
        (1, 1, 2),
        (200, 200, 250),
        (1000, 1000, 1250),
        (1001, 1001, 10_000),
        (1251, 8000, 10_000),
        # What XProf's page asks for on screens of 1440, 1920 and 3840 pixels.
        (3400, 8000, 10_000),
        (5320, 8000, 10_000),
        (13_000, 16_000, 20_000),
        (8000, 8000, 10_000),
        (10_000, 10_000, 20_000),
        (20_000, 20_000, 40_000),
    ],
)
def test_detail_has_few_steps_and_a_quarter_more_in_a_wider_window(
    asked: int, whole: int, zoomed: int
) -> None:
    assert snap_window({"resolution": str(asked)}) == {"resolution": str(whole)}
    assert numbers(snap_window(zoom(5000.0, 5056.0, asked)))[2] == whole
    assert numbers(snap_window(zoom(5000.0, 5050.0, asked)))[2] == zoomed
