"""Queries on the attempts of runs: a job that is started again under the same name keeps its history.

Each function is one transaction. A run's state is that of its newest attempt, and is changed here with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, run_not_found
from server.registry.models import AttemptRow, RunRow
from server.registry.records import Attempt, Json, RunState

MOST_KEPT = 1000
"""Newest attempts of a run that are kept: a job that never starts may begin thousands."""
MOST_CLOSED = 500
"""Runs that are given up in one transaction, which holds them all."""


def add_attempt(
    session: Session, run: RunRow, details: Mapping[str, Json], now: datetime
) -> AttemptRow:
    """Begins the next attempt of a locked run; one that is still under way ends as LOST."""
    return add_attempt_after(session, run, newest_row(session, run.key), details, now)


def add_attempt_after(
    session: Session,
    run: RunRow,
    newest: AttemptRow | None,
    details: Mapping[str, Json],
    now: datetime,
) -> AttemptRow:
    """The same for whoever knows the newest attempt already.

    No other can be under way: none becomes active once there is a later one.
    """
    if newest is not None and newest.state == RunState.ACTIVE.value:
        newest.state, newest.ended = RunState.LOST.value, now
    row = AttemptRow(
        run_key=run.key,
        number=newest.number + 1 if newest else 1,
        state=RunState.ACTIVE.value,
        started=now,
        ended=None,
        details=dict(details),
    )
    session.add(row)
    too_old = row.number - MOST_KEPT
    if too_old > 0:
        session.execute(
            delete(AttemptRow).where(AttemptRow.run_key == run.key, AttemptRow.number <= too_old)
        )
    _set_state(run, RunState.ACTIVE, now)
    return row


def set_state(database: Database, run_id: str, state: RunState, *, now: datetime) -> None:
    """Gives the run, and its newest attempt, a state: ended, or active again.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.writing() as session:
        run = _locked(session, run_id)
        apply_state(session, run, state, now)


def apply_state(session: Session, run: RunRow, state: RunState, now: datetime) -> None:
    """Gives a locked run, and its newest attempt, a state; the first end is kept when it has it already."""
    newest = newest_row(session, run.key)
    if newest is not None and newest.state != state.value:
        newest.state = state.value
        newest.ended = None if state is RunState.ACTIVE else now
    if run.state != state.value:
        _set_state(run, state, now)
    run.seen = now


def newest_row(session: Session, run_key: int) -> AttemptRow | None:
    """The attempt that a run's state is that of."""
    return session.scalar(
        select(AttemptRow)
        .where(AttemptRow.run_key == run_key)
        .order_by(AttemptRow.number.desc())
        .limit(1)
    )


def close_silent(database: Database, before: datetime, *, now: datetime) -> tuple[str, ...]:
    """Ends as LOST the active runs whose jobs have not been heard of since `before`; their ids.

    A run that no job has begun, and that says nowhere to write to, is somebody's folder: it has no job to
    lose. Runs from before signs of life were noted count from their last change. At most `MOST_CLOSED` at a
    time: the next call takes the rest.
    """
    heard = func.coalesce(RunRow.seen, RunRow.updated)
    begun = exists(select(AttemptRow.key).where(AttemptRow.run_key == RunRow.key))
    has_job = or_(RunRow.storage_root != "", begun)
    with database.writing() as session:
        rows = session.scalars(
            select(RunRow)
            .where(
                RunRow.state == RunState.ACTIVE.value,
                RunRow.deleted.is_(None),
                heard < before,
                has_job,
            )
            .order_by(RunRow.key)
            .limit(MOST_CLOSED)
            .with_for_update()
        ).all()
        for run in rows:
            _end_open(session, run.key, RunState.LOST, now)
            _set_state(run, RunState.LOST, now)
        return tuple(run.id for run in rows)


def choose_attempt(database: Database, run_id: str, wanted: int | None) -> int | None:
    """Number of the attempt that something belongs to: the wanted one, else the one under way, else None.

    Raises:
        RegistryError: NOT_FOUND, the run has no such attempt.
    """
    query = (
        select(AttemptRow.number)
        .join(RunRow, RunRow.key == AttemptRow.run_key)
        .where(RunRow.id == run_id)
    )
    if wanted is None:
        query = query.where(AttemptRow.state == RunState.ACTIVE.value)
    else:
        query = query.where(AttemptRow.number == wanted)
    with database.reading() as session:
        found = session.scalar(query.order_by(AttemptRow.number.desc()).limit(1))
    if found is None and wanted is not None:
        raise RegistryError(
            RegistryProblem.NOT_FOUND, f"Run {run_id!r} has no attempt number {wanted}."
        )
    return found


def _locked(session: Session, run_id: str) -> RunRow:
    run = session.scalar(select(RunRow).where(RunRow.id == run_id).with_for_update())
    if run is None:
        raise run_not_found(run_id)
    return run


def _end_open(session: Session, run_key: int, state: RunState, now: datetime) -> None:
    session.execute(
        update(AttemptRow)
        .where(AttemptRow.run_key == run_key, AttemptRow.state == RunState.ACTIVE.value)
        .values(state=state.value, ended=now)
    )


def _set_state(run: RunRow, state: RunState, now: datetime) -> None:
    run.state = state.value
    run.ended = None if state is RunState.ACTIVE else now
    run.updated = now
    run.version += 1
    if state is not RunState.LOST:
        run.seen = now


def to_record(row: AttemptRow) -> Attempt:
    """The row as a plain value."""
    return Attempt(row.number, RunState(row.state), row.started, row.ended, row.details)
