"""How much storage the profiles of sessions take: one place for everybody who adds it up.

A merged session has no files of its own, and a folder that several sessions show is stored once. Sessions
that overlap otherwise (a file, and the folder that it lies in) count twice: only a listing tells them apart.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Subquery, func, select
from sqlalchemy.orm import InstrumentedAttribute

from server.registry.models import RunRow, SessionRow
from server.registry.origins import NO_ORIGINS
from server.registry.people_models import SummaryRow


def stored_bytes(
    owner: InstrumentedAttribute[int] | InstrumentedAttribute[str],
    *conditions: ColumnElement[bool],
) -> Subquery:
    """Bytes by `owner`, as far as is known: a row has `owner` and `bytes`; none where nothing is known.

    Args:
        owner: column of the runs by which it is told.
        conditions: which runs and sessions count; deleted sessions never do.
    """
    folders = (
        select(owner.label("owner"), func.max(SummaryRow.total_bytes).label("bytes"))
        .select_from(SessionRow)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .join(SummaryRow, SummaryRow.session_key == SessionRow.key)
        .where(SessionRow.deleted.is_(None), NO_ORIGINS, *conditions)
        .group_by(owner, func.rtrim(SessionRow.location, "/"))
        .subquery()
    )
    total = func.sum(folders.c.bytes).label("bytes")
    return select(folders.c.owner, total).group_by(folders.c.owner).subquery()
