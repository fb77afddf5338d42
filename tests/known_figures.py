"""Sessions whose figures are known without a worker: kept in the registry as the hub itself keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from loader.catalog import digest_of, list_session
from loader.engine.base import engine_version
from loader.storage.roots import open_storage
from server.figures.step_reading import steps_of
from server.figures.values import OpTime, SessionFigures, Utilisation
from server.registry.database import Database
from server.registry.sessions import get_session
from server.registry.summaries import FigureState, HostSize, SessionSummary, keep_summary
from tests.services.api import Api


def figures(
    *times: float, ops: Mapping[str, float] | None = None, cores: int = 4
) -> SessionFigures:
    """Figures of a TPU with these step times, and operations with these times in microseconds."""
    steps = steps_of(times)
    total = sum((ops or {}).values())
    found = [OpTime(name, "fusion", time, time / total, 1) for name, time in (ops or {}).items()]
    return SessionFigures(
        step_times_ms=times,
        average_step_ms=steps.average if steps else None,
        steps=steps,
        device_type="TPU v5p",
        device_count=cores,
        host_count=1,
        utilisation=Utilisation(duty_cycle=85.4),
        peak_memory_bytes=3_000_000_000,
        top_ops=tuple(found),
        op_count=len(found),
        ops_time_us=total,
    )


def keep_figures(
    api: Api, run: str, session: str, known: SessionFigures | None, problem: str = ""
) -> None:
    """Keeps them for the session's files as they are now; None with the reason why there are none."""
    database = Database(api.settings.resolved_database_url)
    record = get_session(database, run, session)
    files = list_session(open_storage(api.settings.readable_roots), record.locations)
    hosts = tuple(HostSize(entry.host, entry.file.size) for entry in files.hosts)
    state = FigureState(engine_version(api.settings.engine), problem, is_final=True)
    empty = SessionSummary(
        digest_of(files.hosts), hosts, sum(host.bytes for host in hosts), None, datetime.now(UTC)
    )
    assert keep_summary(database, record.uid, replace(empty, figures=known, state=state))
    database.close()
