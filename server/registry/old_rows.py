"""Rows that are over and serve nobody any more, taken away all at once by `xprof-hub prune`.

Whoever adds rows of these kinds takes some old ones away, too (`forgetting`), so that nothing grows without
end where nobody runs that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, literal, or_, select

from server.registry.audit import forget_audit_events
from server.registry.base import Base
from server.registry.database import Database
from server.registry.models import DeviceCodeRow, OperationRow, RequestRow
from server.registry.people_models import AuditRow, BrowserSessionRow

AUDIT_EVENTS = "audit_events"


@dataclass(frozen=True)
class Limits:
    """Until when rows are over.

    Attributes:
        now: for what says itself when it ends.
        short: operations and requests from before this moment.
        audit: events of the audit log from before this one.
    """

    now: datetime
    short: datetime
    audit: datetime


def forget_all_old(database: Database, limits: Limits) -> Mapping[str, int]:
    """Removes them; how many of each kind. Each kind is a transaction of its own."""
    removed = {AUDIT_EVENTS: forget_audit_events(database, limits.audit)}
    for name, (rows, is_over) in _kinds(limits).items():
        with database.writing() as session:
            gone = session.scalars(delete(rows).where(is_over).returning(literal(1)))
            removed[name] = len(gone.all())
    return removed


def count_old(database: Database, limits: Limits) -> Mapping[str, int]:
    """How many there are of each kind."""
    kinds = dict(_kinds(limits))
    kinds[AUDIT_EVENTS] = (AuditRow, AuditRow.moment < limits.audit)
    with database.reading() as session:
        return {
            name: session.scalar(select(func.count()).select_from(rows).where(is_over)) or 0
            for name, (rows, is_over) in kinds.items()
        }


def _kinds(limits: Limits) -> Mapping[str, tuple[type[Base], ColumnElement[bool]]]:
    is_signed_out = or_(
        BrowserSessionRow.expires <= limits.now, BrowserSessionRow.ended <= limits.now
    )
    return {
        "browser_sessions": (BrowserSessionRow, is_signed_out),
        "device_codes": (DeviceCodeRow, DeviceCodeRow.expires <= limits.now),
        "operations": (OperationRow, OperationRow.created < limits.short),
        "requests": (RequestRow, RequestRow.created < limits.short),
    }
