"""Days as people write them into forms."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from server.site.days import read_day


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert read_day("2026-11-30") == datetime(2026, 11, 30, tzinfo=UTC)
    assert read_day("2028-02-29") == datetime(2028, 2, 29, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["", "30.11.2026", "20261130", "2026-W49-1", "2026-02-29", "1969-12-31", "9999-01-01"],
)
def test_what_is_no_day_or_too_far_away_is_none(text: str) -> None:
    assert read_day(text) is None
