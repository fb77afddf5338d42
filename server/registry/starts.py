"""Queries on jobs of which every host tells that it starts: one attempt for all. Each is one transaction.

A job that is there once registers through `server.registry.registrations`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry.attempts import add_attempt, newest_row
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, run_not_found
from server.registry.models import RunRow
from server.registry.records import Json, Run, RunState
from server.registry.runs import RunChanges, new_row, to_record

HOSTS = "hosts"
"""Where the details of an attempt name the hosts that have started."""
MOST_HOSTS = 10_000
"""Hosts of an attempt that are told apart; who joins beyond that is part of it, and isn't noted."""


def create_started_run(
    database: Database,
    run_id: str,
    values: RunChanges,
    *,
    parent: str,
    hosts: Collection[str] | None,
    creator: str,
    now: datetime,
) -> Run:
    """Makes a run with its first attempt.

    Args:
        database: the registry.
        run_id: its id.
        values: its fields.
        parent: as `records.Run.parent`.
        hosts: those that start, perhaps unknown; None where no job does.
        creator: name of the principal.
        now: UTC.

    Raises:
        RegistryError: ALREADY_EXISTS; nothing was changed.
    """
    row = new_row(run_id, values, creator=creator, now=now, parent=parent)
    try:
        with database.writing() as session:
            session.add(row)
            session.flush()
            if hosts is not None and row.state == RunState.ACTIVE.value:
                add_attempt(session, row, _details(hosts), now)
                session.flush()
            return to_record(row)
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS, f"There is a run {run_id!r} already."
        ) from error


def note_start(database: Database, run_id: str, hosts: Collection[str], now: datetime) -> int:
    """Notes that hosts of a run's job start; the number of the attempt that they belong to.

    They join the attempt under way, unless one of them had started in it: then the job was started again, and
    the next attempt begins. So it does for a run that has ended, and where nobody said which hosts.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.writing() as session:
        run = session.scalar(select(RunRow).where(RunRow.id == run_id).with_for_update())
        if run is None:
            raise run_not_found(run_id)
        number = _joined(session, run, hosts)
        if number is None:
            number = add_attempt(session, run, _details(hosts), now).number
        run.seen = now
        return number


def _joined(session: Session, run: RunRow, hosts: Collection[str]) -> int | None:
    newest = newest_row(session, run.key)
    is_open = run.state == RunState.ACTIVE.value
    if newest is None or not is_open or newest.state != RunState.ACTIVE.value or not hosts:
        return None
    started = _hosts(newest.details)
    if started & set(hosts):
        return None
    known = started | set(hosts)
    if len(known) <= MOST_HOSTS:
        newest.details = {**newest.details, **_details(known)}
    return newest.number


def _hosts(details: Mapping[str, Json]) -> set[str]:
    found = details.get(HOSTS)
    return {host for host in found if isinstance(host, str)} if isinstance(found, list) else set()


def _details(hosts: Collection[str]) -> dict[str, Json]:
    names: list[Json] = [*sorted(hosts)]
    return {HOSTS: names}
