"""Changes of sessions that are there: what people and jobs say of them, and what looks at their files find.

Each function is one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, session_not_found
from server.registry.models import RunRow, SessionRow
from server.registry.records import (
    Json,
    ProfilerSession,
    SessionKind,
    SessionState,
    etag_of,
)
from server.registry.sessions import lock_run, to_record


@dataclass(frozen=True)
class SessionChanges:
    """New values for a session; None leaves a field as it is."""

    display_name: str | None = None
    expected_hosts: int | None = None
    kind: SessionKind | None = None
    state: SessionState | None = None
    started: datetime | None = None
    ended: datetime | None = None
    targets: Mapping[str, Json] | None = None
    details: Mapping[str, Json] | None = None
    expires: datetime | None = None
    is_pinned: bool | None = None
    is_held: bool | None = None
    cleared: frozenset[str] = frozenset()
    """Fields that lose their value: of `expected_hosts`, `started`, `ended` and `expires`."""


Decide = Callable[[ProfilerSession], SessionChanges]
"""What to change, given the session as it is while nobody else changes it."""


def change_session(
    database: Database,
    run_id: str,
    session_id: str,
    decide: Decide,
    *,
    etag: str | None,
    now: datetime,
) -> ProfilerSession:
    """Changes a session, unless it is another state than the one that `etag` names.

    Raises:
        RegistryError: NOT_FOUND or ETAG_MISMATCH; nothing was changed.
    """
    with database.writing() as session:
        row = _locked(session, run_id, session_id)
        if etag is not None and etag != etag_of(row.uid, row.version):
            raise RegistryError(
                RegistryProblem.ETAG_MISMATCH,
                f"Session {session_id!r} was changed since you read it. Read it again.",
            )
        changes = decide(to_record(row, run_id))
        _apply(row, changes)
        row.version += 1
        row.updated = now
        session.execute(update(RunRow).where(RunRow.key == row.run_key).values(seen=now))
        session.flush()
        return to_record(row, run_id)


def note_look(
    database: Database, uid: str, digest: str, *, now: datetime
) -> ProfilerSession | None:
    """Notes what a session's files look like; None when it was deleted. No change of the session itself."""
    with database.writing() as session:
        run_id = session.scalar(_run_of(uid))
        if run_id is None:
            return None
        lock_run(session, run_id)
        row = session.scalar(select(SessionRow).where(SessionRow.uid == uid).with_for_update())
        if row is None:
            return None
        if row.seen_digest != digest:
            row.seen_digest, row.seen_changed = digest, now
            session.execute(update(RunRow).where(RunRow.key == row.run_key).values(seen=now))
        session.flush()
        return to_record(row, run_id)


def complete_session(database: Database, uid: str, digest: str, *, now: datetime) -> bool:
    """Closes an open session whose files still look as `digest` says; whether it was this call."""
    change = (
        update(SessionRow)
        .where(
            SessionRow.uid == uid,
            SessionRow.deleted.is_(None),
            SessionRow.state == SessionState.OPEN.value,
            SessionRow.seen_digest == digest,
        )
        .values(state=SessionState.COMPLETE.value, version=SessionRow.version + 1, updated=now)
        .returning(SessionRow.key)
    )
    with database.writing() as session:
        return session.scalar(change) is not None


def _apply(row: SessionRow, changes: SessionChanges) -> None:
    for name in changes.cleared:
        setattr(row, name, None)
    for one in fields(changes):
        value = getattr(changes, one.name)
        if value is not None and one.name != "cleared":
            setattr(row, one.name, dict(value) if isinstance(value, Mapping) else value)


def _locked(session: Session, run_id: str, session_id: str) -> SessionRow:
    run_key = lock_run(session, run_id)
    query = select(SessionRow).where(
        SessionRow.run_key == run_key, SessionRow.id == session_id, SessionRow.deleted.is_(None)
    )
    row = session.scalar(query.with_for_update())
    if row is None:
        raise session_not_found(run_id, session_id)
    return row


def _run_of(uid: str) -> Select[str]:
    return (
        select(RunRow.id)
        .join(SessionRow, SessionRow.run_key == RunRow.key)
        .where(SessionRow.uid == uid, SessionRow.deleted.is_(None), RunRow.deleted.is_(None))
    )
