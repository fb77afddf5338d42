"""When a session is to be deleted, and what keeps it: the one place that decides. Pure.

From strongest to weakest: a legal hold (on the session, its run, or its group), a pin, the session's own
expiry, the days that its group gives to every session.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from server.registry.keeping import Keeping

_LATEST_DAYS = 365_000
"""No date has this many days behind it; more could not be counted."""


class Kept(StrEnum):
    """Why a session is not deleted, whatever its expiry says."""

    HELD = "HELD"
    """There is a legal hold on it."""
    RUN_HELD = "RUN_HELD"
    """There is one on its run."""
    GROUP_HELD = "GROUP_HELD"
    """There is one on its run group."""
    PINNED = "PINNED"
    """Somebody has pinned it."""


@dataclass(frozen=True)
class Due:
    """When a session is deleted by itself.

    Attributes:
        moment: from when on; None: never.
        kept: what keeps it, the strongest first; empty for a session that has an end or was given none.
        is_of_group: whether the moment comes from its run group.
    """

    moment: datetime | None
    kept: tuple[Kept, ...] = ()
    is_of_group: bool = False


def when_due(keeping: Keeping) -> Due:
    """When a session is deleted by itself, and why not."""
    holds = {
        Kept.HELD: keeping.is_held,
        Kept.RUN_HELD: keeping.run_is_held,
        Kept.GROUP_HELD: keeping.group_is_held,
        Kept.PINNED: keeping.is_pinned,
    }
    kept = tuple(reason for reason, holds_now in holds.items() if holds_now)
    if kept:
        return Due(None, kept)
    if keeping.expires is not None:
        return Due(keeping.expires)
    if keeping.group_days is None or keeping.group_days > _LATEST_DAYS:
        return Due(None)
    return Due(keeping.created + timedelta(days=keeping.group_days), is_of_group=True)


def is_due(keeping: Keeping, now: datetime) -> bool:
    """Whether a session is to be deleted now."""
    moment = when_due(keeping).moment
    return moment is not None and moment <= now
