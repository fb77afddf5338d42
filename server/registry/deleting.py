"""Deleting runs and sessions: first for a time, in which they can come back, then for good.

Whoever deletes takes the id away at once: the row keeps it in `deleted_id`, and has one instead that no
request can name, so that nothing finds it and another may be made under it. Links end at once and for good.
Each function is one transaction; no file is touched here.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import ColumnElement, Select, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry import runs, sessions
from server.registry.database import Database
from server.registry.errors import (
    RegistryError,
    RegistryProblem,
    run_not_found,
    session_not_found,
)
from server.registry.holds import require_not_held
from server.registry.keeping import Keeping, read_keeping
from server.registry.looks import LookKind
from server.registry.models import LinkRow, LookRow, RunRow, SessionRow
from server.registry.origins import require_unmerged
from server.registry.records import ProfilerSession, Run, etag_of


def delete_run(
    database: Database,
    run_id: str,
    *,
    etag: str | None,
    now: datetime,
    with_sessions: bool = True,
    by: str = "",
) -> None:
    """Deletes a run with its sessions and ends its and their links; it can be brought back.

    Args:
        database: the registry.
        run_id: its id.
        etag: the state in which it is deleted, or None for any.
        now: UTC.
        with_sessions: whether its sessions may go with it.
        by: name of the principal.

    Raises:
        RegistryError: NOT_FOUND, ETAG_MISMATCH, NOT_EMPTY or HELD; nothing was changed.
    """
    with database.writing() as session:
        row = session.scalar(select(RunRow).where(RunRow.id == run_id).with_for_update())
        if row is None:
            raise run_not_found(run_id)
        if etag is not None and etag != etag_of(row.uid, row.version):
            raise RegistryError(
                RegistryProblem.ETAG_MISMATCH,
                f"Run {run_id!r} was changed since you read it. Read it again and repeat your change.",
            )
        live = select(SessionRow.key).where(
            SessionRow.run_key == row.key, SessionRow.deleted.is_(None)
        )
        if not with_sessions and session.scalar(live.limit(1)) is not None:
            raise RegistryError(RegistryProblem.NOT_EMPTY, f"Run {run_id!r} has profiler sessions.")
        is_held = session.scalar(live.where(SessionRow.is_held).limit(1)) is not None
        refused = f"Run {run_id!r} can't be deleted"
        require_not_held(session, refused, row, "a session of it" if is_held else "")
        of_run = select(SessionRow.key).where(SessionRow.run_key == row.key)
        _end_links(session, or_(LinkRow.session_key.in_(of_run), LinkRow.run_key == row.key), now)
        _take_away(row, now, by)


def delete_session(
    database: Database,
    run_id: str,
    session_id: str,
    *,
    etag: str | None,
    now: datetime,
    by: str = "",
) -> None:
    """Takes a session off its run and ends its links; it can be brought back.

    Raises:
        RegistryError: NOT_FOUND, ETAG_MISMATCH or HELD; nothing was changed.
    """
    with database.writing() as session:
        run = session.scalar(
            select(RunRow).where(RunRow.id == run_id).with_for_update(key_share=True)
        )
        row = session.scalar(_live_session(run, session_id).with_for_update()) if run else None
        if run is None or row is None:
            raise session_not_found(run_id, session_id)
        if etag is not None and etag != etag_of(row.uid, row.version):
            raise RegistryError(
                RegistryProblem.ETAG_MISMATCH,
                f"Session {session_id!r} was changed since you read it. Read it again.",
            )
        refused = f"Session {session_id!r} can't be deleted"
        require_not_held(session, refused, run, "it" if row.is_held else "")
        take_session_away(session, row, now, by)


def undelete_run(database: Database, run_id: str, *, now: datetime) -> Run:
    """Brings back the run of this id that was deleted last, with the sessions that it had then.

    Its links, and those of its sessions, stay ended.

    Raises:
        RegistryError: NOT_FOUND, or ALREADY_EXISTS: another run has its id by now.
    """
    query = select(RunRow).where(RunRow.deleted_id == run_id, RunRow.deleted.is_not(None))
    try:
        with database.writing() as session:
            row = session.scalar(
                query.order_by(RunRow.deleted.desc(), RunRow.key.desc()).limit(1).with_for_update()
            )
            if row is None:
                raise RegistryError(
                    RegistryProblem.NOT_FOUND,
                    f"There is no deleted run {run_id!r} that could be brought back.",
                )
            _bring_back(row, now)
            hasten_look(session, row.uid, now)
            session.flush()
            return runs.to_record(row)
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS,
            f"Another run was made as {run_id!r} since. Delete that one first.",
        ) from error


def undelete_session(
    database: Database,
    run_id: str,
    session_id: str,
    *,
    now: datetime,
    pin_if: Callable[[Keeping], bool],
) -> ProfilerSession:
    """Brings back the run's session of this id that was deleted last; its links stay ended.

    Args:
        database: the registry.
        run_id: id of the run.
        session_id: the id that it had.
        now: UTC.
        pin_if: whether it is to be pinned, given what says how long it is kept.

    Raises:
        RegistryError: NOT_FOUND, or ALREADY_EXISTS: another session of the run has its id by now, or
            what it was made of is part of another merged one.
    """
    try:
        with database.writing() as session:
            run_key = sessions.lock_run(session, run_id)
            if run_key is None:
                raise run_not_found(run_id)
            row = session.scalar(
                select(SessionRow)
                .where(
                    SessionRow.run_key == run_key,
                    SessionRow.deleted_id == session_id,
                    SessionRow.deleted.is_not(None),
                )
                .order_by(SessionRow.deleted.desc(), SessionRow.key.desc())
                .limit(1)
                .with_for_update()
            )
            if row is None:
                raise RegistryError(
                    RegistryProblem.NOT_FOUND,
                    f"Run {run_id!r} has no deleted session {session_id!r} that could be brought back.",
                )
            # While it was away, what it was made of may have become part of another one.
            require_unmerged(session, run_key, sessions.to_record(row, run_id).merged_from)
            _bring_back(row, now)
            session.flush()
            keeping = read_keeping(session, row.uid)
            row.is_pinned = row.is_pinned or (keeping is not None and pin_if(keeping))
            session.flush()
            return sessions.to_record(row, run_id)
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS,
            f"Another session of run {run_id!r} was made as {session_id!r} since. Delete that one first.",
        ) from error


def hasten_look(session: Session, run_uid: str, now: datetime) -> None:
    """Has a run's folder looked at soon: a look at a deleted one rests, and must learn what became of it."""
    session.execute(
        update(LookRow)
        .where(LookRow.kind == LookKind.RUN.value, LookRow.subject == run_uid)
        .values(due=now, unchanged=0)
    )


def _live_session(run: RunRow, session_id: str) -> Select[SessionRow]:
    return select(SessionRow).where(SessionRow.run_key == run.key, SessionRow.id == session_id)


def _end_links(session: Session, which: ColumnElement[bool], now: datetime) -> None:
    session.execute(update(LinkRow).where(which, LinkRow.revoked.is_(None)).values(revoked=now))


def take_session_away(session: Session, row: SessionRow, now: datetime, by: str) -> None:
    """Deletes a locked session of a locked run, and ends its links."""
    _end_links(session, LinkRow.session_key == row.key, now)
    _take_away(row, now, by)


def _take_away(row: RunRow | SessionRow, now: datetime, by: str) -> None:
    # With a slash in it, it can't be an id, and a uid is never used twice.
    row.deleted, row.deleted_id, row.deleter, row.id = now, row.id, by, f"/{row.uid}"
    row.version += 1
    row.updated = now


def _bring_back(row: RunRow | SessionRow, now: datetime) -> None:
    row.id, row.deleted, row.deleted_id, row.deleter = row.deleted_id, None, "", ""
    row.version += 1
    row.updated = now
