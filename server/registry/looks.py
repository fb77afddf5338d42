"""What is looked at in storage again and again: when each is due, and what was seen there.

One table for all kinds, so that there is one order of work, and one place where a notification says "now". A
look without a due time is kept as a memory only. Each function is one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Exists, Select, delete, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from server.registry.database import Database
from server.registry.models import LookRow, RunRow, SessionRow
from server.registry.records import Json, RunState, SessionState

_HASTENED = "hastened"
"""In a note: how often it was hastened, so that a look under way notices."""
_MOST_ENLISTED = 1000
"""Of one call; the next one takes the rest."""


class LookKind(StrEnum):
    """What is looked at."""

    ROOT = "ROOT"
    """A folder of runs' folders; its subject is its address."""
    FOLDER = "FOLDER"
    """A folder in a root that is no run (yet, or any more); its subject is its address."""
    RUN = "RUN"
    """A run's folder; its subject is the run's uid."""
    SESSION = "SESSION"
    """An open session's folder; its subject is the session's uid."""
    SILENCE = "SILENCE"
    """No folder: which runs have not been heard of for long."""


@dataclass(frozen=True)
class Look:
    """One thing to look at.

    Attributes:
        kind: what it is.
        subject: which one; see `LookKind`.
        place: its folder, without a slash at the end; empty if it has none of its own.
        due: when to look next, or None: never by itself.
        looked: when somebody looked, or None.
        unchanged: looks in a row that found nothing new.
        failures: looks in a row that failed.
        note: what was seen; its keys are the business of who looks.
        key: of its row; 0 for one that is not kept yet.
    """

    kind: LookKind
    subject: str
    place: str
    due: datetime | None
    looked: datetime | None = None
    unchanged: int = 0
    failures: int = 0
    note: Mapping[str, Json] = field(default_factory=dict)
    key: int = 0


def add_looks(database: Database, looks: Sequence[Look]) -> int:
    """Adds those that are not there yet; how many were added."""
    there = select(LookRow.kind, LookRow.subject).where(
        LookRow.subject.in_([look.subject for look in looks])
    )
    with database.writing() as session:
        known = {(kind, subject) for kind, subject in session.execute(there)}
        return sum(_add(session, look) for look in looks if (look.kind, look.subject) not in known)


def enlist_runs_and_sessions(database: Database, now: datetime) -> int:
    """Adds the runs that say where they write, and the open sessions; how many were new."""
    runs = (
        select(RunRow.uid, RunRow.storage_root, RunRow.id)
        .where(
            RunRow.storage_root != "",
            RunRow.deleted.is_(None),
            ~_has_look(LookKind.RUN, RunRow.uid),
        )
        .limit(_MOST_ENLISTED)
    )
    open_sessions = (
        select(SessionRow.uid)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(
            SessionRow.state == SessionState.OPEN.value,
            SessionRow.deleted.is_(None),
            RunRow.deleted.is_(None),
            ~_has_look(LookKind.SESSION, SessionRow.uid),
        )
        .limit(_MOST_ENLISTED)
    )
    with database.reading() as session:
        found = [
            Look(LookKind.RUN, uid, f"{root.rstrip('/')}/{run_id}", now)
            for uid, root, run_id in session.execute(runs)
        ]
        found += [Look(LookKind.SESSION, uid, "", now) for uid in session.scalars(open_sessions)]
    return add_looks(database, found) if found else 0


def due_looks(database: Database, now: datetime, most: int) -> tuple[Look, ...]:
    """Those whose time has come, the longest due first."""
    query = select(LookRow).where(LookRow.due <= now).order_by(LookRow.due, LookRow.key).limit(most)
    with database.reading() as session:
        return tuple(_record(row) for row in session.scalars(query))


def find_look(database: Database, kind: LookKind, subject: str) -> Look | None:
    """The look at this, or None."""
    with database.reading() as session:
        row = session.scalar(_of(kind, subject))
        return None if row is None else _record(row)


def looks_at_places(database: Database, places: Collection[str]) -> tuple[Look, ...]:
    """The looks at runs and other folders that are in one of these places."""
    query = select(LookRow).where(LookRow.place.in_(list(places)))
    with database.reading() as session:
        return tuple(_record(row) for row in session.scalars(query))


def save_look(database: Database, look: Look) -> None:
    """Keeps what a look found; nothing when it was removed meanwhile.

    A look that was hastened while it was under way stays due at the earlier moment.
    """
    with database.writing() as session:
        row = session.scalar(select(LookRow).where(LookRow.key == look.key).with_for_update())
        if row is None:
            return
        hastened = row.note.get(_HASTENED)
        row.kind, row.subject, row.place = look.kind.value, look.subject, look.place
        row.looked, row.unchanged, row.failures = look.looked, look.unchanged, look.failures
        row.note = {**look.note, _HASTENED: hastened} if hastened else dict(look.note)
        if hastened == look.note.get(_HASTENED):
            row.due = look.due


def amend_note(
    database: Database,
    kind: LookKind,
    subject: str,
    change: Callable[[Mapping[str, Json]], Mapping[str, Json]],
) -> None:
    """Puts values into a look's note without a look; what else is kept of it stays as it is now.

    Args:
        database: the registry.
        kind: of the look.
        subject: of the look; nothing happens when there is none.
        change: the new values, from the note of now.
    """
    with database.writing() as session:
        row = session.scalar(_of(kind, subject).with_for_update())
        if row is not None:
            row.note = {**row.note, **change(row.note)}


def hasten(database: Database, kind: LookKind, subject: str, due: datetime) -> bool:
    """Makes a look due at this moment unless it is earlier; whether there is such a look."""
    with database.writing() as session:
        row = session.scalar(_of(kind, subject).with_for_update())
        if row is None:
            return False
        if row.due is None or row.due > due:
            row.due = due
        row.unchanged = 0
        times = row.note.get(_HASTENED)
        row.note = {**row.note, _HASTENED: (times if isinstance(times, int) else 0) + 1}
        return True


def hasten_active_runs(database: Database, later_than: datetime, due: datetime) -> None:
    """Looks now at active runs whose turn would come later than this: they were ended when it was set.

    Those that could not be looked at last time wait.
    """
    active = select(RunRow.uid).where(
        RunRow.state == RunState.ACTIVE.value, RunRow.deleted.is_(None)
    )
    change = (
        update(LookRow)
        .where(
            LookRow.kind == LookKind.RUN.value,
            LookRow.due > later_than,
            LookRow.failures == 0,
            LookRow.subject.in_(active),
        )
        .values(due=due, unchanged=0)
    )
    with database.writing() as session:
        session.execute(change)


def remove_look(database: Database, key: int) -> None:
    """Forgets a look."""
    with database.writing() as session:
        session.execute(delete(LookRow).where(LookRow.key == key))


def remove_other_roots(database: Database, roots: Collection[str]) -> None:
    """Forgets the looks at roots that are not set any more."""
    with database.writing() as session:
        session.execute(
            delete(LookRow).where(
                LookRow.kind == LookKind.ROOT.value, LookRow.subject.not_in(list(roots))
            )
        )


def _has_look(kind: LookKind, subject: InstrumentedAttribute[str]) -> Exists:
    return exists(select(LookRow.key).where(LookRow.kind == kind.value, LookRow.subject == subject))


def _of(kind: LookKind, subject: str) -> Select[LookRow]:
    return select(LookRow).where(LookRow.kind == kind.value, LookRow.subject == subject)


def _add(session: Session, look: Look) -> bool:
    try:
        with session.begin_nested():
            session.add(
                LookRow(
                    kind=look.kind.value,
                    subject=look.subject,
                    place=look.place,
                    due=look.due,
                    looked=look.looked,
                    unchanged=look.unchanged,
                    failures=look.failures,
                    note=dict(look.note),
                )
            )
    except IntegrityError:  # another front end added it in this moment
        return False
    return True


def _record(row: LookRow) -> Look:
    return Look(
        LookKind(row.kind),
        row.subject,
        row.place,
        row.due,
        row.looked,
        row.unchanged,
        row.failures,
        row.note,
        row.key,
    )
