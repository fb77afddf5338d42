"""What is asked for at every request to a signed-in page: the session that its path names, in one query."""

from __future__ import annotations

from sqlalchemy import select

from server.registry.database import Database
from server.registry.models import RunRow, SessionRow
from server.registry.records import ProfilerSession
from server.registry.sessions import to_record


def find_opened(
    database: Database, run_id: str, session_id: str
) -> tuple[ProfilerSession, str] | None:
    """The session of these ids with the identity of its run, or None."""
    query = (
        select(SessionRow, RunRow.uid)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(RunRow.id == run_id, SessionRow.id == session_id)
    )
    with database.reading() as session:
        found = session.execute(query).one_or_none()
        return (to_record(found[0], run_id), found[1]) if found else None
