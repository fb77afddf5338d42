"""Days as people write them into the forms and addresses of pages."""

from __future__ import annotations

from datetime import UTC, datetime

HOW_TO_WRITE = "Write a day as in 2026-11-30."
"""For whoever wrote something else."""


def read_day(text: str) -> datetime | None:
    """The first moment of a day (UTC), written as `2026-11-30`; None for anything else.

    Days before 1970 are none of ours, and of the year 9999 some zones have no date for each moment.
    """
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return day if 1970 <= day.year < 9999 else None
