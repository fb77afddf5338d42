"""What is known of sessions without asking the storage: hosts, sizes, first figures.

Each function is one transaction. A summary is a note about files, and may be behind them: its digest says
which state of them it is about.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, load_only

from server.figures.values import HostFigures, OpTime, SessionFigures
from server.registry.database import Database
from server.registry.models import SessionRow
from server.registry.people_models import SummaryRow

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class HostSize:
    """A host and the size of its profile in bytes."""

    name: str
    bytes: int


@dataclass(frozen=True)
class FigureState:
    """How far the figures of a summary are.

    Attributes:
        engine: version of XProf that was asked last; empty when none was.
        problem: why there are none, as a sentence; empty when there are some, or none was asked.
        is_final: whether asking again can't help as long as files and engine are the same.
    """

    engine: str = ""
    problem: str = ""
    is_final: bool = False


@dataclass(frozen=True)
class SessionSummary:
    """What is known of a session.

    Attributes:
        digest: names the state of the files, as `loader.catalog.digest_of` does.
        hosts: sorted by name.
        total_bytes: size of all profiles together.
        figures: what XProf says of them; None when that is not known, or not yet.
        looked: when the files were listed.
        state: how far the figures are.
    """

    digest: str
    hosts: tuple[HostSize, ...]
    total_bytes: int
    figures: SessionFigures | None
    looked: datetime
    state: FigureState = FigureState()

    @property
    def host_count(self) -> int:
        """How many hosts there are."""
        return len(self.hosts)


@dataclass(frozen=True)
class _Details:
    """The long parts of figures, which a list of sessions has no use for."""

    hosts: tuple[HostFigures, ...] = ()
    ops: tuple[OpTime, ...] = ()


@dataclass(frozen=True)
class _Figures:
    """The column `figures`."""

    state: FigureState = FigureState()
    figures: SessionFigures | None = None


_HOSTS = TypeAdapter(tuple[HostSize, ...])
_FIGURES = TypeAdapter(_Figures)
_DETAILS = TypeAdapter(_Details)


def get_summary(database: Database, session_uid: str) -> SessionSummary | None:
    """Everything that is known of the session of this identity, or None."""
    query = (
        select(SummaryRow)
        .join(SessionRow, SessionRow.key == SummaryRow.session_key)
        .where(SessionRow.uid == session_uid)
    )
    with database.reading() as session:
        row = session.scalar(query)
        return None if row is None else _to_summary(row, with_details=True)


def summaries_of(database: Database, session_uids: Collection[str]) -> Mapping[str, SessionSummary]:
    """What is known of sessions, by their identities; one that nothing is known of is missing.

    The figures are without `hosts` and `top_ops`, which only `get_summary` reads.
    """
    query = (
        select(SessionRow.uid, SummaryRow)
        .join(SessionRow, SessionRow.key == SummaryRow.session_key)
        .where(SessionRow.uid.in_(list(session_uids)))
        .options(load_only(*_LIGHT))
    )
    with database.reading() as session:
        return {
            uid: _to_summary(row, with_details=False) for uid, row in session.execute(query).all()
        }


_LIGHT: tuple[InstrumentedAttribute[object], ...] = (
    SummaryRow.digest,
    SummaryRow.hosts,
    SummaryRow.total_bytes,
    SummaryRow.figures,
    SummaryRow.looked,
)


def keep_summary(database: Database, session_uid: str, summary: SessionSummary) -> bool:
    """Notes what is known of a session, in place of what was; whether the session is there.

    What is not whole, for its state names no engine, never takes the place of what is whole about the same
    files: of two front ends, the one that could not ask all may be the last.
    """
    light, details = _split(summary.figures)
    with database.writing() as session:
        # Two that keep one at the same time wait for each other here.
        key = session.scalar(
            select(SessionRow.key)
            .where(SessionRow.uid == session_uid)
            .with_for_update(key_share=True)
        )
        if key is None:
            return False
        if not summary.state.engine and _is_whole(session.get(SummaryRow, key), summary.digest):
            return True
        row = SummaryRow(
            session_key=key,
            digest=summary.digest,
            hosts=_HOSTS.dump_python(summary.hosts, mode="json"),
            host_count=summary.host_count,
            total_bytes=summary.total_bytes,
            figures=_FIGURES.dump_python(_Figures(summary.state, light), mode="json"),
            details=_DETAILS.dump_python(details, mode="json"),
            looked=summary.looked,
        )
        session.merge(row)
    return True


def _is_whole(row: SummaryRow | None, digest: str) -> bool:
    return (
        row is not None
        and row.digest == digest
        and bool(_to_summary(row, with_details=False).state.engine)
    )


def _split(figures: SessionFigures | None) -> tuple[SessionFigures | None, _Details]:
    if figures is None:
        return None, _Details()
    return replace(figures, hosts=(), top_ops=()), _Details(figures.hosts, figures.top_ops)


def _to_summary(row: SummaryRow, *, with_details: bool) -> SessionSummary:
    try:
        kept = _FIGURES.validate_python(row.figures)
        details = _DETAILS.validate_python(row.details) if with_details else _Details()
    except ValidationError as problem:
        # Another version wrote them in another shape: they count as missing, and are made anew.
        logger.info("kept figures can't be read: %d problems", problem.error_count())
        kept, details = _Figures(), _Details()
    figures = kept.figures
    if figures is not None:
        figures = replace(figures, hosts=details.hosts, top_ops=details.ops)
    return SessionSummary(
        digest=row.digest,
        hosts=_HOSTS.validate_python(row.hosts),
        total_bytes=row.total_bytes,
        figures=figures,
        looked=row.looked,
        state=kept.state,
    )
