"""Which profiles are not plain: programs read them differently, though nobody needs a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspecting import inspect
from tests.wire_bytes import (
    block,
    event_metadata,
    good_profile,
    map_entry,
    number,
    plane,
    stat_metadata,
)

DAY_NS = 24 * 3600 * 10**9
NOW_NS = 1_796_015_712_095_950_051
ROUND_NS = (1 << 63) // 1000
"""Where picoseconds in an int64 start anew from below zero."""


def line_at(timestamp_ns: int | None, *events: bytes) -> bytes:
    start = b"" if timestamp_ns is None else number(3, timestamp_ns)
    return block(3, number(1, 1) + start + b"".join(events))


def event(offset_ps: int, duration_ps: int) -> bytes:
    return block(4, number(1, 1) + number(2, offset_ps) + number(3, duration_ps))


def is_plain(folder: Path, profile: bytes) -> bool:
    inspection = inspect(folder, profile)
    assert inspection.warnings == ()
    return inspection.is_plain


def test_a_usual_profile_is_plain(tmp_path: Path) -> None:
    assert is_plain(tmp_path, good_profile())


@pytest.mark.parametrize(
    "starts_ns",
    [(0, 0), (0, 9 * DAY_NS), (4367, 4367), (NOW_NS, NOW_NS + 3 * DAY_NS), (None, 5)],
    ids=str,
)
def test_lines_that_start_together_are_plain(
    tmp_path: Path, starts_ns: tuple[int | None, ...]
) -> None:
    lines = b"".join(line_at(start, event(1, 2)) for start in starts_ns)
    assert is_plain(tmp_path, plane("/device:TPU:0", lines))


@pytest.mark.parametrize(
    "starts_ns",
    [
        (1, NOW_NS),
        (NOW_NS, 0),
        (NOW_NS, None),
        (0, 12 * DAY_NS),
        (ROUND_NS - DAY_NS, ROUND_NS + DAY_NS),
        (3 * ROUND_NS + 10**9,),
    ],
    ids=str,
)
def test_lines_that_programs_place_differently_are_not(
    tmp_path: Path, starts_ns: tuple[int | None, ...]
) -> None:
    planes = (plane(f"/device:TPU:{at}", line_at(start)) for at, start in enumerate(starts_ns))
    assert not is_plain(tmp_path, b"".join(planes))


@pytest.mark.parametrize(("offset_ps", "duration_ps"), [(1 << 62, 9), (9, 1 << 58)])
def test_days_within_a_line_are_not(tmp_path: Path, offset_ps: int, duration_ps: int) -> None:
    lines = line_at(0, event(1, 2), event(offset_ps, duration_ps))
    assert not is_plain(tmp_path, plane("/device:TPU:0", lines))


@pytest.mark.parametrize(
    "entry",
    [
        map_entry(4, 3, number(1, 4) + block(2, "op")),
        map_entry(4, 3, block(2, "op")),
        map_entry(5, 3, number(1, 4) + block(2, "flops")),
        map_entry(5, 3, block(2, "flops")),
    ],
)
def test_metadata_under_another_id_than_its_own_is_not(tmp_path: Path, entry: bytes) -> None:
    good = event_metadata(1, "a") + stat_metadata(1, "b")
    assert is_plain(tmp_path, plane("/device:TPU:0", line_at(0) + good))
    assert not is_plain(tmp_path, plane("/device:TPU:0", line_at(0) + good + entry))


def test_a_profile_without_devices_is_plain_though_there_is_a_warning(tmp_path: Path) -> None:
    inspection = inspect(tmp_path, plane("/host:CPU", line_at(NOW_NS, event(1, 2))))
    assert inspection.warnings != ()
    assert inspection.is_plain


@pytest.mark.parametrize(
    "profile",
    [
        good_profile() + plane("/device:TPU:0\0"),
        good_profile() + plane("twice") + plane("twice"),
        good_profile() + plane("late", line_at(1 << 63, event(1, 2))),
        good_profile() + block(3, "dropped 7 events"),
    ],
    ids=["repaired", "planes of one name", "impossible time", "reported"],
)
def test_what_is_repaired_or_odd_is_not_plain(tmp_path: Path, profile: bytes) -> None:
    inspection = inspect(tmp_path, profile)
    assert inspection.warnings != ()
    assert not inspection.is_plain
