"""Queries on the sessions that merged ones were made of, inside the transactions of `registry.sessions`.

A merged session holds folders, not sessions: it lives on when one of its origins is deleted.
"""

from __future__ import annotations

from sqlalchemy import Text, cast, select
from sqlalchemy.orm import Session

from server.registry.errors import RegistryError, RegistryProblem, session_not_found
from server.registry.models import SessionRow
from server.registry.records import SessionOrigin

NO_ORIGINS = cast(SessionRow.merged_from, Text) == "[]"
"""Condition for a session that was not merged."""


def require_free_origins(
    session: Session, run_key: int, run_id: str, origins: tuple[SessionOrigin, ...]
) -> None:
    """Holds the origins until the transaction ends, so that nobody else merges or deletes one meanwhile.

    Raises:
        RegistryError: NOT_FOUND (one was deleted), or ALREADY_EXISTS (one is part of a merged session).
    """
    query = select(SessionRow.uid).where(
        SessionRow.run_key == run_key,
        SessionRow.deleted.is_(None),
        SessionRow.uid.in_([origin.uid for origin in origins]),
    )
    there = set(session.scalars(query.order_by(SessionRow.key).with_for_update()))
    for origin in origins:
        if origin.uid not in there:
            raise session_not_found(run_id, origin.id)
    require_unmerged(session, run_key, origins)


def require_unmerged(session: Session, run_key: int, origins: tuple[SessionOrigin, ...]) -> None:
    """Refuses what would make a session part of two merged ones.

    Raises:
        RegistryError: ALREADY_EXISTS.
    """
    taken = merged_origins(session, run_key) if origins else {}
    for origin in origins:
        if origin.uid in taken:
            raise RegistryError(
                RegistryProblem.ALREADY_EXISTS,
                f"Session {origin.id!r} is part of the merged session {taken[origin.uid]!r} already. "
                "Delete that one first; the sessions that it was made of stay.",
            )


def merged_origins(session: Session, run_key: int) -> dict[str, str]:
    """Identities of all sessions of a run that are part of a merged one, with that one's id."""
    query = select(SessionRow.id, SessionRow.merged_from).where(
        SessionRow.run_key == run_key, SessionRow.deleted.is_(None), ~NO_ORIGINS
    )
    return {
        origin["uid"]: merged_id
        for merged_id, origins in session.execute(query)
        for origin in origins
    }
