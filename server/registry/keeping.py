"""What is known of how long sessions are kept: their own settings, their run's and their group's.

What follows from it is decided in `server.lifecycle.due`. Each function is one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Row, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.models import RunRow, SessionRow
from server.registry.people_models import RunGroupRow, SummaryRow
from server.registry.records import SessionKind
from server.registry.stored_bytes import stored_bytes

_IN_GROUP = and_(RunGroupRow.id == RunRow.run_set, RunRow.run_set != "")


@dataclass(frozen=True)
class Keeping:
    """What says how long a session is kept.

    Attributes:
        created: when it was attached.
        expires: when it ends by its own setting, or None.
        is_pinned: whether it outlives any expiry.
        is_held: whether there is a legal hold on it.
        run_is_held: whether there is one on its run.
        group: its run's group, or empty.
        group_days: days that the group gives to every session, from `created`; None: no end.
        group_is_held: whether there is a legal hold on the group.
    """

    created: datetime
    expires: datetime | None = None
    is_pinned: bool = False
    is_held: bool = False
    run_is_held: bool = False
    group: str = ""
    group_days: int | None = None
    group_is_held: bool = False


def keeping_of(database: Database, session_uids: Sequence[str]) -> Mapping[str, Keeping]:
    """What holds for these sessions, by their identities; those that are gone are missing."""
    if not session_uids:
        return {}
    with database.reading() as session:
        rows = session.execute(_facts().where(SessionRow.uid.in_(session_uids))).all()
        return {row.uid: _keeping(row) for row in rows}


def read_keeping(session: Session, uid: str) -> Keeping | None:
    """The same for one session, inside a transaction."""
    row = session.execute(_facts().where(SessionRow.uid == uid)).one_or_none()
    return None if row is None else _keeping(row)


def find_perhaps_due(
    database: Database, now: datetime, after: int, most: int
) -> Sequence[tuple[int, str]]:
    """Sessions whose own or group's time is over, and that nothing is known to keep: keys and identities.

    Args:
        database: the registry.
        now: UTC.
        after: key of the last one that was seen; 0 for the first.
        most: how many at a time.
    """
    with database.reading() as session:
        known = session.scalars(
            select(RunGroupRow.session_days)
            .where(RunGroupRow.session_days.is_not(None), ~RunGroupRow.is_held)
            .distinct()
        )
        ends = {days: end for days in known if days and (end := _days_before(now, days))}
        over = [SessionRow.expires <= now]
        if ends:
            # One expression for all groups: SQLite takes no more than a thousand conditions.
            of_group = SessionRow.created <= case(ends, value=RunGroupRow.session_days)
            over.append(and_(SessionRow.expires.is_(None), of_group))
        query = (
            select(SessionRow.key, SessionRow.uid)
            .join(RunRow, RunRow.key == SessionRow.run_key)
            .outerjoin(RunGroupRow, _IN_GROUP)
            .where(
                SessionRow.key > after,
                SessionRow.deleted.is_(None),
                RunRow.deleted.is_(None),
                ~SessionRow.is_pinned,
                ~SessionRow.is_held,
                ~RunRow.is_held,
                or_(RunGroupRow.key.is_(None), ~RunGroupRow.is_held),
                or_(*over),
            )
            .order_by(SessionRow.key)
            .limit(most)
        )
        return [(key, uid) for key, uid in session.execute(query)]


def storage_of_runs(database: Database, run_uids: Sequence[str]) -> Mapping[str, int]:
    """Bytes that the profiles of these runs' sessions take, as far as is known, by the runs' identities.

    A run of which nothing is known is missing.
    """
    if not run_uids:
        return {}
    stored = stored_bytes(RunRow.uid, RunRow.uid.in_(run_uids))
    with database.reading() as session:
        return {uid: int(total) for uid, total in session.execute(select(stored))}


def uploaded_bytes(database: Database) -> int:
    """Bytes of all uploaded profiles, those of sessions that may come back too, as far as is known."""
    query = (
        select(func.sum(SummaryRow.total_bytes))
        .join(SessionRow, SessionRow.key == SummaryRow.session_key)
        .where(SessionRow.kind == SessionKind.UPLOADED.value)
    )
    with database.reading() as session:
        return int(session.scalar(query) or 0)


def _facts() -> Select[
    str, datetime, datetime | None, bool, bool, bool, str, int | None, bool | None
]:
    return (
        select(
            SessionRow.uid,
            SessionRow.created,
            SessionRow.expires,
            SessionRow.is_pinned,
            SessionRow.is_held,
            RunRow.is_held.label("run_is_held"),
            RunRow.run_set,
            RunGroupRow.session_days,
            RunGroupRow.is_held.label("group_is_held"),
        )
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .outerjoin(RunGroupRow, _IN_GROUP)
    )


def _keeping(
    row: Row[str, datetime, datetime | None, bool, bool, bool, str, int | None, bool | None],
) -> Keeping:
    return Keeping(
        created=row.created,
        expires=row.expires,
        is_pinned=row.is_pinned,
        is_held=row.is_held,
        run_is_held=row.run_is_held,
        group=row.run_set,
        group_days=row.session_days,
        group_is_held=bool(row.group_is_held),
    )


def _days_before(now: datetime, days: int) -> datetime | None:
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return None
