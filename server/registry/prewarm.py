"""How far a session's conversion in advance has come: one column, changed only from the states that allow it.

A change is not one of the session itself: etag and update time stay, or whoever is editing would lose.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from sqlalchemy import select, update

from server.registry.database import Database
from server.registry.models import SessionRow


class PrewarmState(StrEnum):
    """States of converting in advance."""

    NONE = ""
    """Nobody has thought of it: the session is older than this."""
    SKIPPED = "skipped"
    """Switched off, not wanted, or the session is too large."""
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """Something other than the profile kept it from being done, or its front end has ended."""


UNDER_WAY = frozenset({PrewarmState.WAITING, PrewarmState.RUNNING})


def change_prewarm(
    database: Database, uid: str, state: PrewarmState, allowed_from: Collection[PrewarmState]
) -> bool:
    """Changes a session's state; whether it was there, and in a state that allows it."""
    change = (
        update(SessionRow)
        .where(SessionRow.uid == uid, SessionRow.prewarm.in_([one.value for one in allowed_from]))
        .values(prewarm=state.value)
        .returning(SessionRow.key)
    )
    with database.writing() as session:
        return session.scalar(change) is not None


def read_prewarm(database: Database, uid: str) -> PrewarmState | None:
    """The state of the session of this identity, or None when it was deleted."""
    with database.reading() as session:
        found = session.scalar(
            select(SessionRow.prewarm).where(SessionRow.uid == uid, SessionRow.deleted.is_(None))
        )
        return None if found is None else PrewarmState(found)
