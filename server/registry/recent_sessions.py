"""The newest sessions of all runs, for people who look for one to choose. One transaction."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, func, or_, select

from server.registry.database import Database
from server.registry.models import RunRow, SessionRow
from server.registry.patience import patience
from server.registry.records import ProfilerSession
from server.registry.sessions import to_record

_MOST_WORDS = 8
_NAMES = (RunRow.id, RunRow.display_name, SessionRow.id, SessionRow.display_name)


def recent_sessions(
    database: Database, words: str, most: int
) -> tuple[tuple[ProfilerSession, str], ...]:
    """The newest sessions, each with its run's name for people, newest first.

    Args:
        database: the registry.
        words: every one of these words is part of an id or a name of the session or its run; upper and
            lower case of ASCII are the same. Empty: all sessions.
        most: at most so many.

    Raises:
        RegistryError: TOO_COSTLY.
    """
    query = (
        select(SessionRow, RunRow.id, RunRow.display_name)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(SessionRow.deleted.is_(None), RunRow.deleted.is_(None))
        .order_by(SessionRow.created.desc(), SessionRow.key.desc())
        .limit(most)
    )
    if words.strip():
        query = query.where(and_(*map(_is_named, words.split()[:_MOST_WORDS])))
    with database.reading() as session, patience(session):
        found = session.execute(query).all()
        return tuple((to_record(row, run_id), name or run_id) for row, run_id, name in found)


def _is_named(word: str) -> ColumnElement[bool]:
    folded = word.lower()
    return or_(*(func.lower(name).contains(folded, autoescape=True) for name in _NAMES))
