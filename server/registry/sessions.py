"""Queries on the sessions of runs. Each function is one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias
from uuid import uuid4

from sqlalchemy import Row, Select, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry.conditions import Columns, Condition, to_sql
from server.registry.database import Database
from server.registry.errors import (
    RegistryError,
    RegistryProblem,
    run_not_found,
    session_not_found,
)
from server.registry.models import RunRow, SessionRow
from server.registry.origins import NO_ORIGINS, merged_origins, require_free_origins
from server.registry.pages import Page, PageRequest, SortColumn, fetch_page
from server.registry.patience import patience
from server.registry.prewarm import PrewarmState
from server.registry.records import (
    Json,
    ProfilerSession,
    SessionKind,
    SessionOrigin,
    SessionState,
)
from server.registry.requests import RepeatableRequest, claim

SessionColumns: TypeAlias = SessionRow | Row[tuple[object, ...]]
"""A session's row, or its columns by their names."""
SORTABLE: Mapping[str, SortColumn] = MappingProxyType(
    {
        "id": SessionRow.id,
        "display_name": SessionRow.display_name,
        "created": SessionRow.created,
        "updated": SessionRow.updated,
    }
)
"""Attributes that a list of sessions can be sorted by."""
FILTERABLE: Columns = MappingProxyType(
    {
        **SORTABLE,
        "kind": SessionRow.kind,
        "state": SessionRow.state,
        "started": SessionRow.started,
        "ended": SessionRow.ended,
        "targets": SessionRow.targets,
        "details": SessionRow.details,
        "attempt": SessionRow.attempt,
        "expected_hosts": SessionRow.expected_hosts,
        "creator": SessionRow.creator,
    }
)
"""Attributes that a condition on sessions may be about."""


@dataclass(frozen=True)
class NewSession:
    """What a client says about a session that it attaches."""

    id: str
    locations: tuple[str, ...]
    display_name: str
    expected_hosts: int | None = None
    merged_from: tuple[SessionOrigin, ...] = ()
    prewarm: PrewarmState = PrewarmState.NONE
    kind: SessionKind = SessionKind.ATTACHED
    state: SessionState = SessionState.COMPLETE
    started: datetime | None = None
    ended: datetime | None = None
    targets: Mapping[str, Json] = field(default_factory=dict)
    details: Mapping[str, Json] = field(default_factory=dict)
    attempt: int | None = None
    expires: datetime | None = None
    is_pinned: bool = False
    is_held: bool = False


def create_session(
    database: Database,
    run_id: str,
    new: NewSession,
    *,
    creator: str,
    now: datetime,
    request: RepeatableRequest | None = None,
) -> ProfilerSession:
    """Attaches a session to a run; one with origins is a merged one, and these stay as they are.

    A session is a sign of life of its run. `request` is noted with it, so that it is not made twice.

    Raises:
        RegistryError: NOT_FOUND (the run, or an origin), or ALREADY_EXISTS (the id, or a merged session that
            an origin is part of).
    """
    try:
        with database.writing() as session:
            run_key = lock_run(session, run_id)
            if run_key is None:
                raise run_not_found(run_id)
            if new.merged_from:
                require_free_origins(session, run_key, run_id, new.merged_from)
            row = SessionRow(
                run_key=run_key,
                id=new.id,
                uid=str(uuid4()),
                display_name=new.display_name,
                location=new.locations[0],
                more_locations=list(new.locations[1:]),
                expected_hosts=new.expected_hosts,
                merged_from=[asdict(origin) for origin in new.merged_from],
                prewarm=new.prewarm.value,
                kind=new.kind.value,
                state=new.state.value,
                started=new.started,
                ended=new.ended,
                targets=dict(new.targets),
                details=dict(new.details),
                attempt=new.attempt,
                expires=new.expires,
                is_pinned=new.is_pinned,
                is_held=new.is_held,
                creator=creator,
                created=now,
                updated=now,
                version=1,
            )
            session.add(row)
            session.execute(update(RunRow).where(RunRow.key == run_key).values(seen=now))
            claim(session, request, new.id, now)
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS, f"Run {run_id!r} has a session {new.id!r} already."
        ) from error
    return to_record(row, run_id)


def get_session(database: Database, run_id: str, session_id: str) -> ProfilerSession:
    """The session of this id.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.reading() as session:
        row = session.scalar(_query(run_id, session_id))
        if row is None:
            raise session_not_found(run_id, session_id)
        return to_record(row, run_id)


def find_session_by_uid(database: Database, uid: str) -> ProfilerSession | None:
    """The session of this identity, as a share link names it, or None when it, or its run, was deleted."""
    query = (
        select(SessionRow, RunRow.id)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(SessionRow.uid == uid, SessionRow.deleted.is_(None), RunRow.deleted.is_(None))
    )
    with database.reading() as session:
        found = session.execute(query).one_or_none()
        return to_record(found[0], found[1]) if found else None


def find_session_of_run(
    database: Database, run_uid: str, session_id: str | None = None
) -> ProfilerSession | None:
    """The session of this id in the run of this identity, or its newest one; None when there is none."""
    query = _of_run(run_uid)
    if session_id is not None:
        query = query.where(SessionRow.id == session_id)
    with database.reading() as session:
        found = session.execute(query.limit(1)).one_or_none()
        return to_record(found[0], found[1]) if found else None


def newest_sessions(database: Database, run_uid: str, most: int) -> tuple[ProfilerSession, ...]:
    """The newest sessions of the run of this identity, newest first; empty when there is no such run."""
    with database.reading() as session:
        found = session.execute(_of_run(run_uid).limit(most))
        return tuple(to_record(row, run_id) for row, run_id in found)


def list_sessions(
    database: Database,
    run_id: str,
    request: PageRequest,
    condition: Condition | None = None,
    *,
    with_deleted: bool = False,
) -> Page[ProfilerSession]:
    """A page of a run's sessions; `request.field` is a key of `SORTABLE`, `condition` about `FILTERABLE`.

    Raises:
        RegistryError: NOT_FOUND (the run), or TOO_COSTLY (the condition).
    """
    with database.reading() as session:
        run_key = session.scalar(select(RunRow.key).where(RunRow.id == run_id))
        if run_key is None:
            raise run_not_found(run_id)
        query = select(SessionRow).where(SessionRow.run_key == run_key)
        if not with_deleted:
            query = query.where(SessionRow.deleted.is_(None))
        if condition is not None:
            query = query.where(to_sql(condition, FILTERABLE))
        with patience(session) if condition else nullcontext():
            rows, position = fetch_page(
                session, query, SORTABLE[request.field], SessionRow.key, request
            )
        return Page(tuple(to_record(row, run_id) for row in rows), position)


def list_free_sessions(database: Database, run_id: str, most: int) -> tuple[ProfilerSession, ...]:
    """A run's newest sessions that are neither merged nor part of a merged one.

    Raises:
        RegistryError: NOT_FOUND (the run).
    """
    with database.reading() as session:
        run_key = session.scalar(select(RunRow.key).where(RunRow.id == run_id))
        if run_key is None:
            raise run_not_found(run_id)
        query = (
            select(SessionRow)
            .where(
                SessionRow.run_key == run_key,
                SessionRow.deleted.is_(None),
                NO_ORIGINS,
                SessionRow.uid.not_in(list(merged_origins(session, run_key))),
            )
            .order_by(SessionRow.created.desc(), SessionRow.key.desc())
            .limit(most)
        )
        return tuple(to_record(row, run_id) for row in session.scalars(query))


def lock_run(session: Session, run_id: str) -> int | None:
    """Key of a run that nobody else changes or deletes until the transaction ends; None if there is none.

    Whoever changes a session locks its run before it, as deleting the run does: in the other order two of
    them could wait for each other.
    """
    query = select(RunRow.key).where(RunRow.id == run_id)
    return session.scalar(query.with_for_update(key_share=True))


def _of_run(run_uid: str) -> Select[SessionRow, str]:
    return (
        select(SessionRow, RunRow.id)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(RunRow.uid == run_uid, RunRow.deleted.is_(None), SessionRow.deleted.is_(None))
        .order_by(SessionRow.created.desc(), SessionRow.key.desc())
    )


def _query(run_id: str, session_id: str) -> Select[SessionRow]:
    run_key = select(RunRow.key).where(RunRow.id == run_id).scalar_subquery()
    return select(SessionRow).where(
        SessionRow.run_key == run_key, SessionRow.id == session_id, SessionRow.deleted.is_(None)
    )


def to_record(row: SessionColumns, run_id: str) -> ProfilerSession:
    """The row as a plain value, with the id of its run."""
    return ProfilerSession(
        id=row.deleted_id or row.id,
        uid=row.uid,
        run=run_id,
        display_name=row.display_name,
        locations=(row.location, *row.more_locations),
        expected_hosts=row.expected_hosts,
        merged_from=tuple(SessionOrigin(**origin) for origin in row.merged_from),
        prewarm=row.prewarm,
        creator=row.creator,
        created=row.created,
        updated=row.updated,
        version=row.version,
        kind=SessionKind(row.kind),
        state=SessionState(row.state),
        started=row.started,
        ended=row.ended,
        targets=row.targets,
        details=row.details,
        attempt=row.attempt,
        seen_digest=row.seen_digest,
        seen_changed=row.seen_changed,
        expires=row.expires,
        is_pinned=row.is_pinned,
        is_held=row.is_held,
        deleted=row.deleted,
    )
