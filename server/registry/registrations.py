"""What jobs tell of themselves: that they begin, and how they ended. Each function is one transaction.

A run that registers again keeps its history: every registration begins an attempt. Several jobs may do so at
once under one name; each gets an attempt of its own, and what it tells later belongs to that one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry.attempts import add_attempt_after, apply_state, newest_row
from server.registry.attempts import to_record as attempt_record
from server.registry.database import Database
from server.registry.errors import run_not_found
from server.registry.holds import is_group_held
from server.registry.models import AttemptRow, RunRow
from server.registry.records import Attempt, Json, Run, RunState
from server.registry.requests import RepeatableRequest, claim
from server.registry.runs import RunChanges, apply_changes, new_row, to_record

DecideRun: TypeAlias = Callable[[Run | None, Mapping[str, Json]], RunChanges]
"""What to change, given the run (None: it is made) and the details of its newest attempt."""


def register_attempt(
    database: Database,
    run_id: str,
    decide: DecideRun,
    details: Mapping[str, Json],
    *,
    creator: str,
    now: datetime,
    request: RepeatableRequest | None = None,
) -> tuple[Run, Attempt]:
    """Makes or changes a run, and begins its next attempt.

    Args:
        database: the registry.
        run_id: id of the run.
        decide: what to change.
        details: kept with the attempt.
        creator: name of the principal, for a new run.
        now: UTC.
        request: noted with it, as the number of the attempt.

    Raises:
        RegistryError: as `decide` raises it, or ALREADY_EXISTS, the same request was noted in this moment.
    """
    for is_last in (False, True):
        try:
            with database.writing() as session:
                row, newest = _changed_or_new(session, run_id, decide, creator, now)
                attempt = add_attempt_after(session, row, newest, details, now)
                claim(session, request, str(attempt.number), now)
                return to_record(row), attempt_record(attempt)
        except IntegrityError:
            # Another process has made the run in this moment: the second time it is there.
            if is_last:
                raise
    raise AssertionError("one of the two attempts returns or raises")


def report_state(
    database: Database, run_id: str, state: RunState, *, attempt: int | None, now: datetime
) -> bool:
    """Gives an attempt of a run a state: the run's too if it is the newest one.

    Args:
        database: the registry.
        run_id: id of the run.
        state: how the job is, or how it ended.
        attempt: number of the attempt that the job registered; None for the newest.
        now: UTC.

    Returns:
        whether the run has it.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.writing() as session:
        run = _locked(session, run_id)
        if run is None:
            raise run_not_found(run_id)
        newest = newest_row(session, run.key)
        if attempt is None or newest is None or attempt >= newest.number:
            apply_state(session, run, state, now)
            return True
        _end_earlier(session, run.key, attempt, state, now)
        run.seen = now
        return False


def find_registration(database: Database, run_id: str, number: int) -> Attempt | None:
    """An attempt by its number; None when the run or the attempt is not there."""
    query = (
        select(AttemptRow)
        .join(RunRow, RunRow.key == AttemptRow.run_key)
        .where(RunRow.id == run_id, AttemptRow.number == number)
    )
    with database.reading() as session:
        row = session.scalar(query)
        return None if row is None else attempt_record(row)


def _changed_or_new(
    session: Session, run_id: str, decide: DecideRun, creator: str, now: datetime
) -> tuple[RunRow, AttemptRow | None]:
    """The run, and its newest attempt so far."""
    row = _locked(session, run_id)
    if row is None:
        row = new_row(run_id, decide(None, {}), creator=creator, now=now)
        session.add(row)
        session.flush()
        return row, None
    newest = newest_row(session, row.key)
    changes = decide(to_record(row), newest.details if newest else {})
    if is_group_held(session, row):
        # A job names its group with each attempt, and must start nevertheless.
        changes = replace(changes, run_set=None)
    apply_changes(session, row, changes, now)
    return row, newest


def _end_earlier(
    session: Session, run_key: int, number: int, state: RunState, now: datetime
) -> None:
    """Notes how an attempt ended that a later one had declared lost; it can't become active again."""
    row = session.scalar(
        select(AttemptRow).where(AttemptRow.run_key == run_key, AttemptRow.number == number)
    )
    if row is not None and state not in (RunState.ACTIVE, RunState(row.state)):
        row.state, row.ended = state.value, now


def _locked(session: Session, run_id: str) -> RunRow | None:
    return session.scalar(select(RunRow).where(RunRow.id == run_id).with_for_update())
