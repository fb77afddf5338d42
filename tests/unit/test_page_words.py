"""Moments, sizes and durations as people read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from server.ui.words import duration, machine_moment, moment, number, size


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (99_949, "99.9 KB"),
        (99_960, "100 KB"),
        (999_499, "999 KB"),
        (999_500, "1.0 MB"),
        (1_400_000_000, "1.4 GB"),
        (2_500_000_000_000_000_000, "2500 PB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.0123, "12.3 ms"),
        (0.85, "850 ms"),
        (12.46, "12.5 s"),
        (59.96, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (7500, "2 h 5 min"),
        (356_400, "4 d 3 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_moments_are_told_in_utc() -> None:
    here = datetime(2026, 11, 30, 1, 5, tzinfo=timezone(timedelta(hours=2)))
    assert moment(here) == "29 Nov 2026, 23:05 UTC"
    assert machine_moment(here) == "2026-11-29T23:05:00+00:00"
    assert machine_moment(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00+00:00"


def test_counts_have_thin_gaps() -> None:
    assert number(1234567) == "1\u202f234\u202f567"
    assert number(999) == "999"
