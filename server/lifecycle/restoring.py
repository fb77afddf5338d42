"""Bringing a deleted session back, for the API and the pages alike."""

from __future__ import annotations

from datetime import datetime

from server.lifecycle.due import is_due
from server.registry.database import Database
from server.registry.deleting import undelete_session
from server.registry.records import ProfilerSession


def bring_session_back(
    database: Database, run: str, session: str, *, now: datetime
) -> ProfilerSession:
    """Brings back the run's session of this id that was deleted last.

    One whose time is over is pinned: the next `xprof-hub prune` would take it again.

    Raises:
        RegistryError: as `undelete_session`.
    """
    return undelete_session(
        database, run, session, now=now, pin_if=lambda keeping: is_due(keeping, now)
    )
