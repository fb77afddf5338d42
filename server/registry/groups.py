"""Run groups: what holds for all runs whose `run_set` is the same, and how much they store.

A group is there as soon as a run names it, or somebody has said something of it. Each function is one
transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import CompoundSelect, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.models import RunRow, SessionRow
from server.registry.pages import Page, PageRequest
from server.registry.people_models import RunGroupRow, SummaryRow
from server.registry.records import etag_of
from server.registry.stored_bytes import stored_bytes


@dataclass(frozen=True)
class Usage:
    """What a group, or a run, holds.

    Attributes:
        runs: how many runs.
        sessions: how many sessions.
        total_bytes: size of their profiles, as far as is known.
    """

    runs: int = 0
    sessions: int = 0
    total_bytes: int = 0


@dataclass(frozen=True)
class RunGroup:
    """A group of runs.

    Attributes:
        id: what its runs' `run_set` says.
        session_days: days after which its sessions are deleted, from their creation; None: never.
        is_held: whether a legal hold keeps all of it from being deleted.
        note: for people.
        updater: name of the principal who changed it last; empty when nobody has.
        updated: when, or None.
        version: counts the changes.
        usage: what it holds.
    """

    id: str
    session_days: int | None = None
    is_held: bool = False
    note: str = ""
    updater: str = ""
    updated: datetime | None = None
    version: int = 0
    usage: Usage = Usage()

    @property
    def etag(self) -> str:
        """Names this state of what was said of it."""
        return etag_of(f"runGroups/{self.id}", self.version)


@dataclass(frozen=True)
class GroupChanges:
    """New values for a group; None leaves a field as it is."""

    session_days: int | None = None
    is_held: bool | None = None
    note: str | None = None
    clears_days: bool = False
    """Whether it loses its `session_days`."""


@dataclass(frozen=True)
class LargeRun:
    """A run, and what it holds.

    Attributes:
        id: its id.
        name: for people.
        group: its group, or empty.
        usage: what it holds.
    """

    id: str
    name: str
    group: str
    usage: Usage


DecideGroup: TypeAlias = Callable[[RunGroup], GroupChanges]
"""What to change, given the group as it is while nobody else changes it."""


def list_groups(database: Database, request: PageRequest) -> Page[RunGroup]:
    """A page of all groups by their ids, ascending; `request.field` is `id`."""
    names = _names().subquery()
    query = select(names.c.id).order_by(names.c.id).limit(request.size + 1)
    if request.after is not None:
        query = query.where(names.c.id > str(request.after[0]))
    with database.reading() as session:
        found = list(session.scalars(query))
        ids = found[: request.size]
        return Page(tuple(_groups(session, ids)), (ids[-1], 0) if len(found) > len(ids) else None)


def largest_groups(database: Database, most: int) -> tuple[RunGroup, ...]:
    """The groups that store most, the largest first."""
    with database.reading() as session:
        ids = list(session.scalars(_names()))
        found = _groups(session, ids)
    return tuple(sorted(found, key=lambda group: (-group.usage.total_bytes, group.id))[:most])


def largest_runs(database: Database, most: int) -> tuple[LargeRun, ...]:
    """The runs that store most, the largest first; those of which nothing is known are left out."""
    stored = stored_bytes(RunRow.key, RunRow.deleted.is_(None))
    query = (
        select(RunRow.id, RunRow.display_name, RunRow.run_set, func.count(), stored.c.bytes)
        .join(stored, stored.c.owner == RunRow.key)
        .join(SessionRow, SessionRow.run_key == RunRow.key)
        .join(SummaryRow, SummaryRow.session_key == SessionRow.key)
        .where(SessionRow.deleted.is_(None), stored.c.bytes > 0)
        .group_by(RunRow.key, stored.c.bytes)
        .order_by(stored.c.bytes.desc(), RunRow.id)
        .limit(most)
    )
    with database.reading() as session:
        return tuple(
            LargeRun(run_id, name, group, Usage(1, sessions, int(size)))
            for run_id, name, group, sessions, size in session.execute(query)
        )


def get_group(database: Database, group_id: str) -> RunGroup:
    """The group of this id.

    Raises:
        RegistryError: NOT_FOUND, no run is in it, and nothing was said of it.
    """
    with database.reading() as session:
        return _found(session, group_id)


def change_group(
    database: Database,
    group_id: str,
    decide: DecideGroup,
    *,
    etag: str | None,
    by: str,
    now: datetime,
    may_make: bool = False,
) -> RunGroup:
    """Changes what holds for a group.

    Args:
        database: the registry.
        group_id: its id.
        decide: what to change; what it raises changes nothing.
        etag: the state in which it is changed, or None for any.
        by: name of the principal.
        now: UTC.
        may_make: whether it may be a group that no run is in yet.

    Raises:
        RegistryError: NOT_FOUND, ETAG_MISMATCH, or ALREADY_EXISTS: somebody else said the first thing of it
            in this moment.
    """
    try:
        with database.writing() as session:
            query = select(RunGroupRow).where(RunGroupRow.id == group_id).with_for_update()
            row = session.scalar(query)
            old = RunGroup(group_id) if row is None and may_make else _found(session, group_id)
            if etag is not None and etag != old.etag:
                raise RegistryError(
                    RegistryProblem.ETAG_MISMATCH,
                    f"Run group {group_id!r} was changed since you read it. Read it again.",
                )
            changes = decide(old)
            if row is None:
                row = RunGroupRow(id=group_id, is_held=False, note="", version=0)
                session.add(row)
            _apply(row, changes)
            row.updater, row.updated, row.version = by, now, row.version + 1
            session.flush()
            return _groups(session, [group_id])[0]
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS,
            f"Run group {group_id!r} was changed by somebody else in this moment. Try again.",
        ) from error


def _apply(row: RunGroupRow, changes: GroupChanges) -> None:
    if changes.session_days is not None or changes.clears_days:
        row.session_days = changes.session_days
    if changes.is_held is not None:
        row.is_held = changes.is_held
    if changes.note is not None:
        row.note = changes.note


def _found(session: Session, group_id: str) -> RunGroup:
    names = _names().subquery()
    if session.scalar(select(names.c.id).where(names.c.id == group_id)) is None:
        raise RegistryError(RegistryProblem.NOT_FOUND, f"There is no run group {group_id!r}.")
    return _groups(session, [group_id])[0]


def _names() -> CompoundSelect[str]:
    runs = select(RunRow.run_set.label("id")).where(RunRow.run_set != "", RunRow.deleted.is_(None))
    return runs.union(select(RunGroupRow.id))


def _groups(session: Session, ids: Collection[str]) -> list[RunGroup]:
    """These groups, in this order, with what they hold."""
    rows = {
        row.id: row for row in session.scalars(select(RunGroupRow).where(RunGroupRow.id.in_(ids)))
    }
    usage = _usage(session, ids)
    return [_record(one, rows.get(one), usage.get(one, Usage())) for one in ids]


def _usage(session: Session, ids: Collection[str]) -> Mapping[str, Usage]:
    live = (RunRow.run_set.in_(ids), RunRow.deleted.is_(None))
    runs = select(RunRow.run_set, func.count()).where(*live).group_by(RunRow.run_set)
    held = (
        select(RunRow.run_set, func.count())
        .join(SessionRow, SessionRow.run_key == RunRow.key)
        .where(*live, SessionRow.deleted.is_(None))
        .group_by(RunRow.run_set)
    )
    stored = stored_bytes(RunRow.run_set, *live)
    sessions = {group: count for group, count in session.execute(held)}
    sizes = {group: int(size) for group, size in session.execute(select(stored))}
    return {
        group: Usage(count, sessions.get(group, 0), sizes.get(group, 0))
        for group, count in session.execute(runs)
    }


def _record(group_id: str, row: RunGroupRow | None, usage: Usage) -> RunGroup:
    if row is None:
        return RunGroup(group_id, usage=usage)
    return RunGroup(
        group_id,
        row.session_days,
        row.is_held,
        row.note,
        row.updater,
        row.updated,
        row.version,
        usage,
    )
