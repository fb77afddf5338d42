"""What the registry counts and keeps beside a run, for a whole page of runs at once. One transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.models import AttemptRow, RunRow, SessionRow
from server.registry.records import Run, RunState

MOST_ATTEMPTS = 100
"""Newest attempts of a run that are told; a job that never starts may have begun thousands."""


@dataclass(frozen=True)
class RunAttempt:
    """An attempt without what the job said when it began; all else as `records.Attempt` has it."""

    number: int
    state: RunState
    started: datetime
    ended: datetime | None


@dataclass(frozen=True)
class RunFacts:
    """What belongs to a run.

    Attributes:
        attempts: the newest ones, the first one first.
        sessions: how many there are.
    """

    attempts: tuple[RunAttempt, ...] = ()
    sessions: int = 0


def facts_of(database: Database, runs: Sequence[Run]) -> list[RunFacts]:
    """The facts of these runs, in their order; those of a run that was deleted meanwhile are empty."""
    uids = [run.uid for run in runs]
    if not uids:
        return []
    with database.reading() as session:
        attempts = _attempts(session, uids)
        counts = _session_counts(session, uids)
    return [RunFacts(tuple(attempts.get(uid, ())), counts.get(uid, 0)) for uid in uids]


def _session_counts(session: Session, uids: Sequence[str]) -> dict[str, int]:
    query = (
        select(RunRow.uid, func.count())
        .join(SessionRow, SessionRow.run_key == RunRow.key)
        .where(RunRow.uid.in_(uids), SessionRow.deleted.is_(None))
        .group_by(RunRow.uid)
    )
    return {uid: count for uid, count in session.execute(query)}


def _attempts(session: Session, uids: Sequence[str]) -> dict[str, list[RunAttempt]]:
    newness = func.row_number().over(
        partition_by=AttemptRow.run_key, order_by=AttemptRow.number.desc()
    )
    # Not what the job said when it began: that may be a megabyte of each, and nobody is told.
    columns = (AttemptRow.number, AttemptRow.state, AttemptRow.started, AttemptRow.ended)
    ranked = (
        select(*columns, RunRow.uid.label("uid"), newness.label("newness"))
        .join(RunRow, RunRow.key == AttemptRow.run_key)
        .where(RunRow.uid.in_(uids))
        .subquery()
    )
    told = ranked.c
    query = (
        select(told.uid, told.number, told.state, told.started, told.ended)
        .where(told.newness <= MOST_ATTEMPTS)
        .order_by(told.number)
    )
    found: dict[str, list[RunAttempt]] = {}
    for uid, number, state, started, ended in session.execute(query):
        attempt = RunAttempt(number, RunState(state), started, ended)
        found.setdefault(uid, []).append(attempt)
    return found
