"""Leases in the database, for work that one front end at a time does.

The database is there whether or not there is a Redis. A lease saves work and keeps a bucket from being listed
by everybody; what is done under it must be right even when two hold it, because clocks differ and processes
stall.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from server.registry.database import Database
from server.registry.models import LeaseRow


def take_lease(
    database: Database, name: str, holder: str, *, now: datetime, lasting: timedelta
) -> bool:
    """Takes or prolongs a lease; whether it is the holder's now.

    Nothing is written while another has it, nor in the first half of one's own.
    """
    with database.reading() as session:
        found = session.get(LeaseRow, name)
        if found is not None and found.holder != holder and found.until > now:
            return False
        if found is not None and found.holder == holder and found.until - now > lasting / 2:
            return True
    try:
        with database.writing() as session:
            row = session.scalar(select(LeaseRow).where(LeaseRow.name == name).with_for_update())
            if row is None:
                session.add(LeaseRow(name=name, holder=holder, until=now + lasting))
                return True
            if row.holder != holder and row.until > now:
                return False
            row.holder, row.until = holder, now + lasting
            return True
    except IntegrityError:  # another took it for the first time in this moment
        return False


def give_lease_back(database: Database, name: str, holder: str) -> None:
    """Ends a lease if it is still the holder's, so that the next one need not wait."""
    with database.writing() as session:
        session.execute(delete(LeaseRow).where(LeaseRow.name == name, LeaseRow.holder == holder))
