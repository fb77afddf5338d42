"""Which hand-overs between the two hosts have been used: each is good once, on whichever front end.

In the database and not in Redis, which may be lost without loss of anything but time. A used one is a lease
that nobody gives back: its name says until when it matters, so that old ones lie together and are found
without looking at others.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from server.registry.database import Database
from server.registry.models import LeaseRow

_KIND = "hand-over"
_AT_ONCE = 100


def use_hand_over(database: Database, mark: str, until: datetime, now: datetime) -> bool:
    """Uses a hand-over; whether nobody has before. Takes some away that are over.

    Args:
        database: the registry.
        mark: what is its own alone.
        until: first moment at which it opens nothing anyway (UTC).
        now: UTC.
    """
    over = (
        select(LeaseRow.name)
        .where(LeaseRow.name >= f"{_KIND} ", LeaseRow.name < _name(now, ""))
        .order_by(LeaseRow.name)
        .limit(_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    try:
        with database.writing() as session:
            session.execute(delete(LeaseRow).where(LeaseRow.name.in_(over)))
            session.add(LeaseRow(name=_name(until, mark), holder=_KIND, until=until))
    except IntegrityError:
        return False
    return True


def _name(until: datetime, mark: str) -> str:
    """Sorts by time, as text, for some thousand years."""
    return f"{_KIND} {int(until.timestamp()):012d} {mark}"
