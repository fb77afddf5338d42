"""Attempts of runs as tests begin them, and as they lie in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from server.registry.attempts import to_record
from server.registry.database import Database
from server.registry.models import AttemptRow, RunRow
from server.registry.records import Attempt, Json
from server.registry.registrations import register_attempt
from server.registry.runs import RunChanges


def begin_attempt(
    database: Database, run_id: str, details: Mapping[str, Json], *, now: datetime
) -> Attempt:
    """A run's next attempt, begun by a job that says nothing else."""
    _, attempt = register_attempt(
        database, run_id, lambda _run, _last: RunChanges(), details, creator="job", now=now
    )
    return attempt


def list_attempts(database: Database, run_id: str) -> tuple[Attempt, ...]:
    """All attempts of a run, the first one first."""
    query = (
        select(AttemptRow)
        .join(RunRow, RunRow.key == AttemptRow.run_key)
        .where(RunRow.id == run_id)
        .order_by(AttemptRow.number)
    )
    with database.reading() as session:
        return tuple(map(to_record, session.scalars(query)))
