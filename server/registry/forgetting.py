"""Rows that are kept for a time: whoever adds one takes some old ones away, so that no job has to do it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from server.registry.models import OperationRow, RequestRow

_AT_ONCE = 1000


def forget_old(
    session: Session, rows: type[OperationRow] | type[RequestRow], before: datetime
) -> int:
    """Removes at most 1000 rows from before a moment; how many.

    Those that another transaction removes now are passed over, so that nobody waits for that.
    """
    old = (
        select(rows.key)
        .where(rows.created < before)
        .order_by(rows.created, rows.key)
        .limit(_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    removed = session.scalars(delete(rows).where(rows.key.in_(old)).returning(rows.key))
    return len(removed.all())
