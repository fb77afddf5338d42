"""Queries on runs. Each function is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields
from datetime import datetime
from types import MappingProxyType
from typing import TypeAlias
from uuid import uuid4

from sqlalchemy import bindparam, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry.attempts import apply_state
from server.registry.conditions import Columns, Condition, to_sql
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, run_not_found
from server.registry.holds import require_may_leave
from server.registry.models import RunRow
from server.registry.pages import Page, PageRequest, SortColumn, fetch_page
from server.registry.patience import patience
from server.registry.records import Json, Run, RunState, etag_of
from server.registry.requests import RepeatableRequest, claim

SORTABLE: Mapping[str, SortColumn] = MappingProxyType(
    {
        "id": RunRow.id,
        "display_name": RunRow.display_name,
        "created": RunRow.created,
        "updated": RunRow.updated,
    }
)
"""Attributes that a list of runs can be sorted by."""
FILTERABLE: Columns = MappingProxyType(
    {
        **SORTABLE,
        "labels": RunRow.labels,
        "run_set": RunRow.run_set,
        "configs": RunRow.configs,
        "artifacts": RunRow.artifacts,
        "parent": RunRow.parent,
        "state": RunRow.state,
        "ended": RunRow.ended,
        "seen": RunRow.seen,
        "workload": RunRow.workload,
        "storage_root": RunRow.storage_root,
        "creator": RunRow.creator,
    }
)
"""Attributes that a condition on runs may be about."""


_NAME_BY_ID = select(RunRow.display_name).where(
    RunRow.id == bindparam("run_id"), RunRow.deleted.is_(None)
)
"""Made once, because each page of a link asks."""
MOST_WARNINGS = 20
"""Warnings of a run that are kept: the newest."""


@dataclass(frozen=True)
class RunChanges:
    """New values for a run; None leaves a field as it is."""

    display_name: str | None = None
    labels: dict[str, str] | None = None
    run_set: str | None = None
    configs: dict[str, Json] | None = None
    artifacts: dict[str, Json] | None = None
    tools: list[Json] | None = None
    workload: dict[str, Json] | None = None
    storage_root: str | None = None
    warnings: list[str] | None = None
    note: str | None = None
    is_held: bool | None = None
    state: RunState | None = None


Decide: TypeAlias = Callable[[Run], RunChanges]
"""What to change, given the run as it is while nobody else changes it."""


def create_run(
    database: Database,
    run_id: str,
    values: RunChanges,
    *,
    creator: str,
    now: datetime,
    parent: str = "",
    request: RepeatableRequest | None = None,
) -> Run:
    """Makes a run, in the state ACTIVE unless another one is given, and without attempts.

    Args:
        database: the registry.
        run_id: its id.
        values: its fields.
        creator: name of the principal.
        now: UTC.
        parent: as `Run.parent`.
        request: noted with it, so that the same request does not make it twice.

    Raises:
        RegistryError: ALREADY_EXISTS.
    """
    row = new_row(run_id, values, creator=creator, now=now, parent=parent)
    try:
        with database.writing() as session:
            session.add(row)
            claim(session, request, run_id, now)
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS, f"There is a run {run_id!r} already."
        ) from error
    return to_record(row)


def new_row(
    run_id: str, values: RunChanges, *, creator: str, now: datetime, parent: str = ""
) -> RunRow:
    """A new run's row, as `create_run` makes it."""
    state = values.state or RunState.ACTIVE
    return RunRow(
        id=run_id,
        uid=str(uuid4()),
        display_name=values.display_name if values.display_name is not None else run_id,
        labels=values.labels or {},
        run_set=values.run_set or "",
        configs=values.configs or {},
        artifacts=values.artifacts or {},
        parent=parent,
        state=state.value,
        ended=None if state is RunState.ACTIVE else now,
        seen=now,
        tools=values.tools or [],
        workload=values.workload or {},
        storage_root=values.storage_root or "",
        warnings=values.warnings or [],
        note=values.note or "",
        is_held=values.is_held or False,
        creator=creator,
        created=now,
        updated=now,
        version=1,
    )


def get_run(database: Database, run_id: str) -> Run:
    """The run of this id.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.reading() as session:
        return to_record(_row(session, run_id))


def find_run_name(database: Database, run_id: str) -> str | None:
    """The run's name for people, None when there is no such run; reads nothing else of it."""
    with database.reading() as session:
        return session.scalar(_NAME_BY_ID, {"run_id": run_id})


def list_runs(
    database: Database,
    request: PageRequest,
    condition: Condition | None = None,
    *,
    with_deleted: bool = False,
) -> Page[Run]:
    """A page of runs; `request.field` is a key of `SORTABLE`, and `condition` is about `FILTERABLE`.

    Raises:
        RegistryError: TOO_COSTLY, the condition takes too long.
    """
    query = select(RunRow)
    if not with_deleted:
        query = query.where(RunRow.deleted.is_(None))
    if condition is not None:
        query = query.where(to_sql(condition, FILTERABLE))
    with database.reading() as session, patience(session) if condition else nullcontext():
        rows, position = fetch_page(session, query, SORTABLE[request.field], RunRow.key, request)
        return Page(tuple(to_record(row) for row in rows), position)


def update_run(
    database: Database, run_id: str, changes: RunChanges, *, etag: str | None, now: datetime
) -> Run:
    """Changes a run, unless it is another state than the one that `etag` names.

    Raises:
        RegistryError: NOT_FOUND or ETAG_MISMATCH; nothing was changed.
    """
    return change_run(database, run_id, lambda _run: changes, etag=etag, now=now)


def change_run(
    database: Database, run_id: str, decide: Decide, *, etag: str | None, now: datetime
) -> Run:
    """As `update_run`, with changes that depend on what is there; what `decide` raises changes nothing.

    Raises:
        RegistryError: NOT_FOUND, ETAG_MISMATCH, or HELD: the group that it would leave; nothing was changed.
    """
    with database.writing() as session:
        row = _row(session, run_id, lock=True)
        _check(row, etag)
        changes = decide(to_record(row))
        if changes.run_set is not None:
            require_may_leave(session, row, changes.run_set)
        apply_changes(session, row, changes, now)
        session.flush()
        return to_record(row)


def apply_changes(session: Session, row: RunRow, changes: RunChanges, now: datetime) -> None:
    """Changes a locked run."""
    for field in fields(changes):
        value = getattr(changes, field.name)
        if value is not None and field.name != "state":
            setattr(row, field.name, value)
    if changes.state is not None:
        apply_state(session, row, changes.state, now)
    row.version += 1
    row.updated = row.seen = now


def add_warning(
    database: Database, run_id: str, sentence: str, *, now: datetime, most: int = MOST_WARNINGS
) -> None:
    """Adds a sentence to a run's warnings unless it is there already; only the newest are kept.

    That changes the run, and is no sign of life of its job.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.writing() as session:
        row = _row(session, run_id, lock=True)
        if sentence not in row.warnings:
            row.warnings = [*row.warnings, sentence][-most:]
            row.version += 1
            row.updated = now


def _row(session: Session, run_id: str, *, lock: bool = False) -> RunRow:
    query = select(RunRow).where(RunRow.id == run_id, RunRow.deleted.is_(None))
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise run_not_found(run_id)
    return row


def _check(row: RunRow, etag: str | None) -> None:
    if etag is not None and etag != etag_of(row.uid, row.version):
        raise RegistryError(
            RegistryProblem.ETAG_MISMATCH,
            f"Run {row.id!r} was changed since you read it. Read it again and repeat your change.",
        )


def to_record(row: RunRow) -> Run:
    """The row as a plain value."""
    return Run(
        id=row.deleted_id or row.id,
        uid=row.uid,
        display_name=row.display_name,
        labels=row.labels,
        run_set=row.run_set,
        configs=row.configs,
        artifacts=row.artifacts,
        creator=row.creator,
        created=row.created,
        updated=row.updated,
        version=row.version,
        parent=row.parent,
        state=RunState(row.state),
        ended=row.ended,
        seen=row.seen,
        tools=tuple(row.tools),
        workload=row.workload,
        storage_root=row.storage_root,
        warnings=tuple(row.warnings),
        note=row.note,
        is_held=row.is_held,
        deleted=row.deleted,
    )
