"""The list of runs as people look through it: by words, choices and dates, in an order of theirs, by pages.

The API's list (`registry.runs`) walks by keys and gives whole documents; this one counts, and takes from each
run only what a row shows, so that ten thousand runs are looked through while a person waits. Each function is
one transaction that reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, Select, Subquery, Text, and_, cast, func, or_, select
from sqlalchemy.orm import Session

from server.registry.conditions import Condition, to_sql
from server.registry.database import Database
from server.registry.json_values import text_at
from server.registry.models import RunRow, SessionRow
from server.registry.patience import patience
from server.registry.people_models import SummaryRow
from server.registry.records import RunState
from server.registry.runs import FILTERABLE
from server.registry.stored_bytes import stored_bytes

MOST_CHOICES = 200
"""Groups, owners or frameworks that a list of choices names; whoever has more types one."""


class RunOrder(StrEnum):
    """What a list of runs can be sorted by."""

    NEWEST = "newest"
    NAME = "name"
    LAST_SESSION = "last-session"
    SESSIONS = "sessions"


@dataclass(frozen=True)
class RunQuery:
    """Which runs are wanted; what is empty asks for nothing.

    Attributes:
        words: each must be in the run's name, id, labels, group or creator; letters of ASCII match whether
            small or capital.
        group: its `run_set`.
        labels: keys with the value that they must have; an empty value stands for any.
        state: of the run.
        framework: as `framework_of`, small letters.
        owner: name of its creator.
        since: made at this moment or later.
        until: made before this moment.
        condition: an advanced filter, about `registry.runs.FILTERABLE`.
        order: of the list.
        reverse: whether it goes the other way round.
        page: number from 1.
        size: rows of a page.
    """

    words: tuple[str, ...] = ()
    group: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    state: RunState | None = None
    framework: str = ""
    owner: str = ""
    since: datetime | None = None
    until: datetime | None = None
    condition: Condition | None = None
    order: RunOrder = RunOrder.NEWEST
    reverse: bool = False
    page: int = 1
    size: int = 50


@dataclass(frozen=True)
class ListedRun:
    """A row.

    Attributes:
        framework: what the job says that it runs on, or empty.
        seen: last sign of life, or None.
        sessions: how many there are.
        last_session: when the newest came, or None.
        hosts: of its session with the most; None where none was looked at yet.
        bytes: of all profiles that were looked at; None where none was.
        warnings: how many there are.
    """

    id: str
    uid: str
    display_name: str
    labels: Mapping[str, str]
    run_set: str
    creator: str
    state: RunState
    framework: str
    created: datetime
    seen: datetime | None
    is_held: bool
    sessions: int
    last_session: datetime | None
    hosts: int | None
    bytes: int | None
    warnings: int


@dataclass(frozen=True)
class RunListPage:
    """A page of runs, and how many there are on all pages."""

    runs: tuple[ListedRun, ...]
    total: int


@dataclass(frozen=True)
class RunChoices:
    """What lists of choices name, sorted: what runs have, `MOST_CHOICES` of each at most."""

    groups: tuple[str, ...]
    owners: tuple[str, ...]
    frameworks: tuple[str, ...]


def framework_of() -> ColumnElement[str]:
    """The framework of a run as its job tells it, in small letters: clients write `JAX`, `jax`, `PyTorch`."""
    # One look into the document: PostgreSQL reads it anew for each, and `text_at` looks at its kind, too.
    told = RunRow.configs[("softwareConfigs", "framework")].as_string()
    return func.lower(func.coalesce(told, RunRow.labels["framework"].as_string(), ""))


def search_runs(database: Database, query: RunQuery) -> RunListPage:
    """A page of the runs that a query asks for; empty beyond the last one.

    Raises:
        RegistryError: TOO_COSTLY, the advanced filter takes too long.
    """
    wanted = _conditions(query)
    with (
        database.reading() as session,
        patience(session) if query.condition else nullcontext(),
    ):
        keys, total = _page_of_keys(session, query, wanted)
        return RunListPage(_rows(session, keys), total)


def run_choices(database: Database) -> RunChoices:
    """What can be chosen among the runs that there are."""
    with database.reading() as session:
        return RunChoices(
            groups=_distinct(session, RunRow.run_set.expression),
            owners=_distinct(session, RunRow.creator.expression),
            frameworks=_distinct(session, framework_of()),
        )


def _distinct(session: Session, column: ColumnElement[str]) -> tuple[str, ...]:
    # The expression once: PostgreSQL does not see that two with parameters are the same.
    named = select(column.label("name")).where(RunRow.deleted.is_(None)).distinct().subquery()
    query = select(named.c.name).where(named.c.name != "").order_by(named.c.name)
    return tuple(sorted(session.scalars(query.limit(MOST_CHOICES))))


def _conditions(query: RunQuery) -> list[ColumnElement[bool]]:
    wanted: list[ColumnElement[bool]] = [RunRow.deleted.is_(None)]
    wanted += [_has_word(word) for word in query.words]
    for key, value in query.labels:
        found = text_at(RunRow.labels, (key,))
        wanted.append(found == value if value else found.is_not(None))
    if query.group:
        wanted.append(RunRow.run_set == query.group)
    if query.state:
        wanted.append(RunRow.state == query.state.value)
    if query.framework:
        wanted.append(framework_of() == query.framework)
    if query.owner:
        wanted.append(RunRow.creator == query.owner)
    if query.since:
        wanted.append(RunRow.created >= query.since)
    if query.until:
        wanted.append(RunRow.created < query.until)
    if query.condition:
        wanted.append(to_sql(query.condition, FILTERABLE))
    return wanted


def _has_word(word: str) -> ColumnElement[bool]:
    small = _small(word)
    texts = (RunRow.display_name, RunRow.id, RunRow.run_set, RunRow.creator)
    found = [func.lower(text).contains(small, autoescape=True) for text in texts]
    # Labels are kept as JSON, in which other letters than those of ASCII are written as numbers.
    written = _small(json.dumps(word)[1:-1])
    labels = func.lower(cast(RunRow.labels, Text))
    return or_(*found, labels.contains(written, autoescape=True))


def _small(text: str) -> str:
    """Small letters as both databases make them: of ASCII only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def _page_of_keys(
    session: Session, query: RunQuery, wanted: Sequence[ColumnElement[bool]]
) -> tuple[list[int], int]:
    """The keys of a page, and how many there are on all pages."""
    counted = select(func.count()).select_from(RunRow).where(*wanted)
    chosen = _in_order(select(RunRow.key).where(*wanted), query)
    chosen = chosen.limit(query.size).offset((query.page - 1) * query.size)
    if len(wanted) > 1:
        # Conditions are looked at once: each reads documents of all runs.
        found = session.execute(chosen.add_columns(func.count().over())).all()
        if found:
            return [key for key, _ in found], found[0][1]
        return [], (session.scalar(counted) or 0) if query.page > 1 else 0
    return list(session.scalars(chosen)), session.scalar(counted) or 0


def _in_order(chosen: Select[int], query: RunQuery) -> Select[int]:
    """The key makes one order of what is alike."""
    is_down = query.reverse if query.order is RunOrder.NAME else not query.reverse
    key = RunRow.key.desc() if is_down else RunRow.key.asc()
    if query.order is RunOrder.NEWEST:
        return chosen.order_by(RunRow.created.desc() if is_down else RunRow.created.asc(), key)
    if query.order is RunOrder.NAME:
        name = func.lower(RunRow.display_name)
        return chosen.order_by(name.desc() if is_down else name.asc(), key)
    counted = _sessions_of_runs()
    chosen = chosen.outerjoin(counted, counted.c.run_key == RunRow.key)
    if query.order is RunOrder.SESSIONS:
        count = func.coalesce(counted.c.sessions, 0)
        return chosen.order_by(count.desc() if is_down else count.asc(), key)
    newest = counted.c.newest.desc() if is_down else counted.c.newest.asc()
    # Runs without one stand at the end either way; the two databases differ without a word on it.
    return chosen.order_by(newest.nulls_last(), key)


def _sessions_of_runs(keys: Sequence[int] | None = None) -> Subquery:
    """How many sessions each run has, and when the newest came."""
    query = select(
        SessionRow.run_key,
        func.count().label("sessions"),
        func.max(SessionRow.created).label("newest"),
    ).where(SessionRow.deleted.is_(None))
    if keys is not None:
        query = query.where(SessionRow.run_key.in_(keys))
    return query.group_by(SessionRow.run_key).subquery()


def _hosts_of_runs(keys: Sequence[int]) -> Subquery:
    """Hosts of the runs' sessions that were looked at."""
    return (
        select(SessionRow.run_key, func.max(SummaryRow.host_count).label("hosts"))
        .join(SummaryRow, SummaryRow.session_key == SessionRow.key)
        .where(and_(SessionRow.run_key.in_(keys), SessionRow.deleted.is_(None)))
        .group_by(SessionRow.run_key)
        .subquery()
    )


def _rows(session: Session, keys: Sequence[int]) -> tuple[ListedRun, ...]:
    """The rows of these runs, in this order."""
    if not keys:
        return ()
    counted, files = _sessions_of_runs(keys), _hosts_of_runs(keys)
    stored = stored_bytes(RunRow.key, RunRow.key.in_(keys))
    query = (
        select(
            RunRow.key,
            RunRow.id,
            RunRow.uid,
            RunRow.display_name,
            RunRow.labels,
            RunRow.run_set,
            RunRow.creator,
            RunRow.state,
            framework_of().label("framework"),
            RunRow.created,
            RunRow.seen,
            RunRow.is_held,
            RunRow.warnings,
            counted.c.sessions,
            counted.c.newest,
            files.c.hosts,
            stored.c.bytes,
        )
        .outerjoin(counted, counted.c.run_key == RunRow.key)
        .outerjoin(files, files.c.run_key == RunRow.key)
        .outerjoin(stored, stored.c.owner == RunRow.key)
        .where(RunRow.key.in_(keys))
    )
    found = {
        row.key: ListedRun(
            id=row.id,
            uid=row.uid,
            display_name=row.display_name,
            labels=row.labels,
            run_set=row.run_set,
            creator=row.creator,
            state=RunState(row.state),
            framework=row.framework,
            created=row.created,
            seen=row.seen,
            is_held=row.is_held,
            sessions=row.sessions or 0,
            last_session=row.newest,
            hosts=row.hosts,
            bytes=None if row.bytes is None else int(row.bytes),
            warnings=len(row.warnings),
        )
        for row in session.execute(query)
    }
    return tuple(found[key] for key in keys if key in found)
