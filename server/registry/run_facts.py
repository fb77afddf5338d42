"""What the registry counts and keeps beside a run, for a whole page of runs at once. One transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from server.registry.attempts import to_record
from server.registry.database import Database
from server.registry.models import AttemptRow, RunRow, SessionRow
from server.registry.records import Attempt, Run

MOST_ATTEMPTS = 100
"""Newest attempts of a run that are told; a job that never starts may have begun thousands."""


@dataclass(frozen=True)
class RunFacts:
    """What belongs to a run.

    Attributes:
        attempts: the newest ones, the first one first.
        sessions: how many there are.
    """

    attempts: tuple[Attempt, ...] = ()
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
        .where(RunRow.uid.in_(uids))
        .group_by(RunRow.uid)
    )
    return {uid: count for uid, count in session.execute(query)}


def _attempts(session: Session, uids: Sequence[str]) -> dict[str, list[Attempt]]:
    newness = func.row_number().over(
        partition_by=AttemptRow.run_key, order_by=AttemptRow.number.desc()
    )
    ranked = (
        select(AttemptRow, RunRow.uid.label("uid"), newness.label("newness"))
        .join(RunRow, RunRow.key == AttemptRow.run_key)
        .where(RunRow.uid.in_(uids))
        .subquery()
    )
    row = aliased(AttemptRow, ranked)
    query = (
        select(row, ranked.c.uid).where(ranked.c.newness <= MOST_ATTEMPTS).order_by(ranked.c.number)
    )
    found: dict[str, list[Attempt]] = {}
    for attempt, uid in session.execute(query):
        found.setdefault(uid, []).append(to_record(attempt))
    return found
