"""Deleting for good: what is over, what was deleted long enough ago, and what is left of it in storage.

A session's row goes first. In the same transaction it leaves a note (`leftovers`) of where its files lie, so
that a job that is cut off, or a bucket that does not answer, loses nothing: the next one goes on from the
notes. Each function is one transaction, and may be called twice and by two at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Text, and_, cast, delete, exists, or_, select
from sqlalchemy.orm import Session

from loader.storage.base import XPLANE_SUFFIX
from server.registry.database import Database
from server.registry.deleting import hasten_look, take_session_away
from server.registry.holds import holds_on
from server.registry.keeping import Keeping, read_keeping
from server.registry.models import LeftoverRow, RunRow, SessionRow
from server.registry.people_models import RunGroupRow


@dataclass(frozen=True)
class Gone:
    """Something that a step has deleted.

    Attributes:
        run: id of the run.
        session: id of the session; empty for a whole run.
        uid: its identity.
    """

    run: str
    session: str
    uid: str


@dataclass(frozen=True)
class Leftover:
    """Where files of a session lie that is gone for good.

    Attributes:
        key: of the note.
        locations: folders, or a single file, as the session named them.
    """

    key: int
    locations: tuple[str, ...]


def expire_session(
    database: Database, uid: str, is_due: Callable[[Keeping], bool], *, now: datetime, by: str
) -> Gone | None:
    """Deletes a session whose time is over, for as long as it may come back; None if it is kept after all.

    Args:
        database: the registry.
        uid: identity of the session.
        is_due: whether its time is over, given what is known while nobody changes it.
        now: UTC.
        by: named as who deleted it.
    """
    with database.writing() as session:
        found = _locked(session, SessionRow.uid == uid)
        if found is None:
            return None
        run, row = found
        keeping = read_keeping(session, uid)
        is_gone = run.deleted is not None or row.deleted is not None
        if is_gone or keeping is None or not is_due(keeping) or holds_on(session, run):
            return None
        gone = Gone(run.id, row.id, uid)
        take_session_away(session, row, now, by)
        return gone


def find_purgeable_runs(
    database: Database, before: datetime, after: int, most: int
) -> Sequence[int]:
    """Keys of the runs that were deleted before a moment and that no hold keeps, in their order."""
    of_run = SessionRow.run_key == RunRow.key
    query = (
        select(RunRow.key)
        .where(
            RunRow.key > after,
            RunRow.deleted <= before,
            *_no_hold(),
            ~exists(select(SessionRow.key).where(of_run, SessionRow.is_held)),
        )
        .order_by(RunRow.key)
        .limit(most)
    )
    with database.reading() as session:
        return session.scalars(query).all()


def find_purgeable_sessions(
    database: Database, before: datetime, after: int, most: int
) -> Sequence[int]:
    """The same of sessions that were deleted by themselves."""
    query = (
        select(SessionRow.key)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(
            SessionRow.key > after,
            SessionRow.deleted <= before,
            ~SessionRow.is_held,
            *_no_hold(),
        )
        .order_by(SessionRow.key)
        .limit(most)
    )
    with database.reading() as session:
        return session.scalars(query).all()


def _no_hold() -> tuple[ColumnElement[bool], ...]:
    """Conditions for a run without a hold on itself or its group."""
    in_group = and_(RunGroupRow.id == RunRow.run_set, RunRow.run_set != "")
    held = exists(select(RunGroupRow.key).where(in_group, RunGroupRow.is_held))
    return (~RunRow.is_held, ~held)


def purge_session(database: Database, key: int, before: datetime) -> Gone | None:
    """Removes a session that was deleted before a moment; None if it came back, is held, or is gone."""
    with database.writing() as session:
        found = _locked(session, SessionRow.key == key)
        if found is None:
            return None
        run, row = found
        is_over = row.deleted is not None and row.deleted <= before
        if not is_over or row.is_held or holds_on(session, run):
            return None
        _leave(session, [row])
        gone = Gone(run.deleted_id or run.id, row.deleted_id, row.uid)
        session.execute(delete(SessionRow).where(SessionRow.key == key))
        return gone


def purge_run(database: Database, key: int, before: datetime, now: datetime) -> Gone | None:
    """Removes a run with all sessions, as `purge_session`; a hold on one of them keeps all."""
    with database.writing() as session:
        run = session.scalar(select(RunRow).where(RunRow.key == key).with_for_update())
        if run is None or run.deleted is None or run.deleted > before or holds_on(session, run):
            return None
        rows = session.scalars(
            select(SessionRow).where(SessionRow.run_key == key).order_by(SessionRow.key)
        ).all()
        if any(row.is_held for row in rows):
            return None
        _leave(session, rows)
        hasten_look(session, run.uid, now)
        gone = Gone(run.deleted_id, "", run.uid)
        session.execute(delete(RunRow).where(RunRow.key == key))
        return gone


def list_leftovers(database: Database, after: int, most: int) -> tuple[Leftover, ...]:
    """Notes of files that are left, the oldest first."""
    query = select(LeftoverRow).where(LeftoverRow.key > after).order_by(LeftoverRow.key).limit(most)
    with database.reading() as session:
        return tuple(Leftover(row.key, tuple(row.locations)) for row in session.scalars(query))


def remove_leftover(database: Database, key: int) -> None:
    """Forgets such a note: nothing is left to do."""
    with database.writing() as session:
        session.execute(delete(LeftoverRow).where(LeftoverRow.key == key))


def is_made_for_others(database: Database, locations: Sequence[str]) -> bool:
    """Whether a session, one that may come back too, has exactly these locations, and so shares artifacts."""
    return any(found == tuple(locations) for found in _sessions_near(database, locations))


def are_files_of_others(database: Database, locations: Sequence[str]) -> bool:
    """Whether a session, also one that may come back, has files that lie in one of these places."""
    others = [place for found in _sessions_near(database, locations) for place in found]
    return any(overlap(one, other) for one in locations for other in others)


def local_locations(database: Database) -> Iterator[str]:
    """Where all sessions lie that have files on this disk, those that may come back too."""
    has_more = cast(SessionRow.more_locations, Text) != "[]"
    query = select(SessionRow.location, SessionRow.more_locations).where(
        or_(SessionRow.location.startswith("/"), has_more)
    )
    with database.reading() as session:
        for first, more in session.execute(query):
            yield from (place for place in (first, *more) if place.startswith("/"))


def _sessions_near(database: Database, locations: Sequence[str]) -> list[tuple[str, ...]]:
    """The locations of all sessions that may have something to do with these places."""
    bare = [one.rstrip("/") for one in locations]
    parents = [one.rpartition("/")[0] for one in bare]
    exact = {
        *locations,
        *bare,
        *(f"{one}/" for one in bare),
        *parents,
        *(f"{one}/" for one in parents),
    }
    below = [SessionRow.location.startswith(f"{one}/", autoescape=True) for one in bare]
    has_more = cast(SessionRow.more_locations, Text) != "[]"
    query = select(SessionRow.location, SessionRow.more_locations).where(
        or_(SessionRow.location.in_(exact), has_more, *below)
    )
    with database.reading() as session:
        return [(first, *more) for first, more in session.execute(query)]


def overlap(one: str, other: str) -> bool:
    """Whether two places have files in common: the same, one in the other, or a file and its folder."""
    one, other = one.rstrip("/"), other.rstrip("/")
    if one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/"):
        return True
    return any(
        file.endswith(XPLANE_SUFFIX) and file.rpartition("/")[0] == folder
        for file, folder in ((one, other), (other, one))
    )


def _locked(session: Session, which: ColumnElement[bool]) -> tuple[RunRow, SessionRow] | None:
    """A session with its run, both held until the transaction ends, in the order in which all do so."""
    run_key = session.scalar(select(SessionRow.run_key).where(which))
    run = session.scalar(
        select(RunRow).where(RunRow.key == run_key).with_for_update(key_share=True)
    )
    row = session.scalar(select(SessionRow).where(which).with_for_update())
    return None if run is None or row is None else (run, row)


def _leave(session: Session, rows: Iterable[SessionRow]) -> None:
    session.add_all(LeftoverRow(locations=[row.location, *row.more_locations]) for row in rows)
