"""Nonsense times are counted and said; the profile is shown all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspecting import inspect
from tests.wire_bytes import block, number, plane, stat_metadata

FARTHEST = (1 << 63) - 1


def line_at(timestamp_ns: int, *events: bytes) -> bytes:
    content = number(1, 1) + number(3, timestamp_ns) + b"".join(events)
    return block(3, content)


def event(offset_ps: int, duration_ps: int, stats: bytes = b"") -> bytes:
    return block(4, number(1, 1) + number(2, offset_ps) + number(3, duration_ps) + stats)


@pytest.mark.parametrize(
    ("offset_ps", "duration_ps"),
    [(-1, 5), (5, -1), (-FARTHEST - 1, 0), (0, -FARTHEST - 1), (FARTHEST, 1), (1, FARTHEST)],
)
def test_a_negative_or_overflowing_event_is_counted(
    tmp_path: Path, offset_ps: int, duration_ps: int
) -> None:
    good, odd = event(1000, 50), event(offset_ps, duration_ps)
    profile = plane("/device:TPU:0", line_at(7, good, odd, good, odd, odd))
    inspection = inspect(tmp_path, profile)
    assert inspection.events == 5
    assert inspection.warnings == (
        "3 events have impossible times (negative, or beyond 106 days); "
        "XProf may place them wrongly or leave them out.",
    )


@pytest.mark.parametrize(
    ("offset_ps", "duration_ps"),
    [(0, 0), ((1 << 56) - 1, 9), (1 << 56, 9), (9, 1 << 57), (FARTHEST, 0), (0, FARTHEST)],
)
def test_what_int64_can_count_is_possible(tmp_path: Path, offset_ps: int, duration_ps: int) -> None:
    profile = plane("/device:TPU:0", line_at(7, event(offset_ps, duration_ps)))
    assert inspect(tmp_path, profile).warnings == ()


def test_large_numbers_in_stats_are_no_times(tmp_path: Path) -> None:
    stats = b"".join(block(4, number(1, 2) + number(field, -1)) for field in (3, 4, 7))
    profile = plane("/device:TPU:0", line_at(7, *[event(1000, 50, stats)] * 20))
    assert inspect(tmp_path, profile).warnings == ()


@pytest.mark.parametrize("timestamp_ns", [-1, -FARTHEST - 1, FARTHEST])
def test_a_line_at_an_impossible_time_is_counted(tmp_path: Path, timestamp_ns: int) -> None:
    profile = plane("/device:TPU:0", line_at(timestamp_ns) + line_at(1_796_015_712_095_950_051))
    assert inspect(tmp_path, profile).warnings == (
        "1 line starts at an impossible time; XProf may place them wrongly or leave them out.",
    )


def capture(start_ns: int, stop_ns: int) -> bytes:
    """A profile that says when it was captured."""
    names = stat_metadata(1, "profile_start_time") + stat_metadata(2, "profile_stop_time")
    start = block(6, number(1, 1) + number(3, start_ns))
    stop = block(6, number(1, 2) + number(3, stop_ns))
    return plane("/device:TPU:0", line_at(0)) + plane("Task Environment", names + start + stop)


DAY_NS = 24 * 3600 * 10**9


def test_a_capture_of_a_month_is_possible(tmp_path: Path) -> None:
    inspection = inspect(tmp_path, capture(5, 5 + 30 * DAY_NS))
    assert (inspection.start_ns, inspection.stop_ns) == (5, 5 + 30 * DAY_NS)
    assert inspection.warnings == ()


@pytest.mark.parametrize(
    ("start_ns", "stop_ns"), [(10, 9), (-5, 10), (5, 6 + 30 * DAY_NS), (FARTHEST - 1, FARTHEST)]
)
def test_a_nonsense_capture_time_is_left_out(tmp_path: Path, start_ns: int, stop_ns: int) -> None:
    inspection = inspect(tmp_path, capture(start_ns, stop_ns))
    assert (inspection.start_ns, inspection.stop_ns) == (None, None)
    assert inspection.warnings == (
        "The capture's recorded start and stop make no sense and are left out.",
    )


@pytest.mark.parametrize("key", [1, 127, 128, 16_383])
def test_an_event_of_a_long_duration_alone_is_told_from_a_stat(tmp_path: Path, key: int) -> None:
    """Both are an id and a number with one tag, and have one length."""
    odd = block(4, number(1, key) + number(3, -1))
    good = block(4, number(1, key) + number(2, 5) + block(4, number(1, key) + number(3, -1)))
    profile = plane("/device:TPU:0", line_at(7, good, odd, good, good, odd))
    (warning,) = inspect(tmp_path, profile).warnings
    assert warning.startswith("2 events have impossible times")
