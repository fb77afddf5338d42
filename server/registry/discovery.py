"""What discovery asks the registry: which runs there are, and which sessions of a run are known already.

Each function is one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, select

from server.registry.attempts import apply_state
from server.registry.database import Database
from server.registry.models import RunRow, SessionRow
from server.registry.records import RunState, SessionState


@dataclass(frozen=True)
class WatchedRun:
    """What matters of a run for looking at its folder.

    Attributes:
        id: its id.
        uid: its identity.
        state: of its newest attempt.
        storage_root: where its folder lies, or empty.
    """

    id: str
    uid: str
    state: RunState
    storage_root: str


@dataclass(frozen=True)
class KnownSessions:
    """The sessions that a run has.

    Attributes:
        ids: all ids.
        locations: all folders and files, without a slash at the end, with the uid of their session; of the
            session itself where a merged one has the same.
        deleted: folders and files of sessions that were deleted, and may come back.
    """

    ids: frozenset[str]
    locations: Mapping[str, str]
    deleted: frozenset[str] = frozenset()


def find_watched_run(database: Database, uid: str) -> WatchedRun | None:
    """The run of this identity, or None when it was deleted."""
    with database.reading() as session:
        row = session.scalar(select(RunRow).where(RunRow.uid == uid, RunRow.deleted.is_(None)))
        return None if row is None else _record(row)


def may_come_back(database: Database, uid: str) -> bool:
    """Whether the run of this identity is deleted, and not yet for good."""
    with database.reading() as session:
        found = select(RunRow.key).where(RunRow.uid == uid, RunRow.deleted.is_not(None))
        return session.scalar(found) is not None


def find_runs_by_ids(database: Database, ids: Collection[str]) -> dict[str, WatchedRun]:
    """The runs that have these ids."""
    with database.reading() as session:
        rows = session.scalars(select(RunRow).where(RunRow.id.in_(list(ids))))
        return {row.id: _record(row) for row in rows}


def find_deleted_runs(database: Database, ids: Collection[str]) -> dict[str, WatchedRun]:
    """The runs that had these ids and may come back; of several that had one, the last."""
    query = select(RunRow).where(RunRow.deleted_id.in_(list(ids)), RunRow.deleted.is_not(None))
    with database.reading() as session:
        rows = session.scalars(query.order_by(RunRow.deleted, RunRow.key))
        return {row.deleted_id: _record(row) for row in rows}


def known_sessions(database: Database, run_uid: str) -> KnownSessions:
    """Ids and folders of a run's sessions."""
    query = (
        select(
            SessionRow.id,
            SessionRow.uid,
            SessionRow.location,
            SessionRow.more_locations,
            SessionRow.deleted,
        )
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(RunRow.uid == run_uid)
    )
    with database.reading() as session:
        rows = session.execute(query).all()
    live = [row for row in rows if row.deleted is None]
    places: dict[str, str] = {}
    for row in sorted(live, key=lambda row: len(row.more_locations)):  # merged ones last
        for place in (row.location, *row.more_locations):
            places.setdefault(place.rstrip("/"), row.uid)
    deleted = {
        place.rstrip("/")
        for row in rows
        if row.deleted is not None
        for place in (row.location, *row.more_locations)
    }
    return KnownSessions(frozenset(row.id for row in live), places, frozenset(deleted))


def session_at(database: Database, run_uid: str, folder: str) -> str | None:
    """Identity of the run's session in this folder, written without a slash at the end."""
    query = (
        select(SessionRow.uid)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(
            RunRow.uid == run_uid,
            SessionRow.deleted.is_(None),
            SessionRow.location.in_([folder, f"{folder}/"]),
        )
        .order_by(SessionRow.key)
        .limit(1)
    )
    with database.reading() as session:
        return session.scalar(query)


def open_sessions_of(database: Database, run_uid: str, most: int) -> tuple[str, ...]:
    """Identities of a run's newest sessions whose hosts may still come."""
    query = (
        select(SessionRow.uid)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(
            RunRow.uid == run_uid,
            SessionRow.deleted.is_(None),
            SessionRow.state == SessionState.OPEN.value,
        )
        .order_by(SessionRow.created.desc(), SessionRow.key.desc())
        .limit(most)
    )
    with database.reading() as session:
        return tuple(session.scalars(query))


def reopen_lost(database: Database, now: datetime) -> tuple[str, ...]:
    """Makes lost runs active again that got a session since they were given up; their ids."""
    newer = exists(
        select(SessionRow.key).where(
            SessionRow.run_key == RunRow.key, SessionRow.created > RunRow.ended
        )
    )
    is_back = (RunRow.state == RunState.LOST.value, RunRow.deleted.is_(None), newer)
    with database.reading() as session:
        if session.scalar(select(RunRow.key).where(*is_back).limit(1)) is None:
            return ()
    with database.writing() as session:
        # In the order in which `close_silent` holds them, so that neither waits for the other for ever.
        query = select(RunRow).where(*is_back).order_by(RunRow.key).with_for_update()
        rows = session.scalars(query).all()
        for run in rows:
            apply_state(session, run, RunState.ACTIVE, now)
        return tuple(run.id for run in rows)


def _record(row: RunRow) -> WatchedRun:
    return WatchedRun(row.id, row.uid, RunState(row.state), row.storage_root.rstrip("/"))
