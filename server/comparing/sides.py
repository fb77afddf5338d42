"""Finding the two sessions of a comparison, with their figures as far as they are made.

Whoever asks never waits for figures: what is missing is asked for, and the side says that it is pending.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from loader.catalog import digest_of
from loader.errors import LoaderError
from server.comparing.configs import ConfigComparison, compare_configs
from server.comparing.figures import compare
from server.comparing.values import Comparison
from server.figures.freshness import Standing, Wish, standing_of
from server.figures.values import SessionFigures
from server.names import is_id
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.records import ProfilerSession, Run
from server.registry.runs import get_run
from server.registry.sessions import get_session
from server.registry.summaries import get_summary
from server.services import Services
from server.xprof.tool_answers import ToolAnswers

_COLLECTIONS = ("machineLearningRuns", "profilerSessions")


@dataclass(frozen=True)
class SessionRef:
    """Ids of a run and one of its sessions."""

    run: str
    session: str

    def __str__(self) -> str:
        return f"{self.run}/{self.session}"


@dataclass(frozen=True)
class Side:
    """One session of a comparison.

    Attributes:
        run: its run.
        session: the session.
        standing: how far its figures are.
        figures: what is known when that is `READY`, else None.
        problem: why there are no figures, or not yet; may be empty.
        found_hosts: how many profiles there are; None when they could not be listed.
    """

    run: Run
    session: ProfilerSession
    standing: Standing
    figures: SessionFigures | None = None
    problem: str = ""
    found_hosts: int | None = None

    @property
    def ref(self) -> SessionRef:
        """Its ids."""
        return SessionRef(self.run.id, self.session.id)


@dataclass(frozen=True)
class Compared:
    """Two sides, and what differs.

    Attributes:
        left: what the right one is compared with.
        right: the other one.
        standing: `READY` when both sides are, `FAILED` when one can't be.
        comparison: what differs in their figures; None unless that is `READY`.
        configs: what differs in their runs' configuration.
        warnings: why they may not be comparable, a sentence each.
    """

    left: Side
    right: Side
    standing: Standing
    comparison: Comparison | None
    configs: ConfigComparison
    warnings: tuple[str, ...]


def read_ref(text: str) -> SessionRef | None:
    """The session of a resource name or of `RUN/SESSION`; None when the text is neither."""
    parts = text.split("/")
    if len(parts) == 4 and (parts[0], parts[2]) == _COLLECTIONS:
        parts = [parts[1], parts[3]]
    if len(parts) != 2 or not all(is_id(part) for part in parts):
        return None
    return SessionRef(*parts)


async def find_side(services: Services, ref: SessionRef) -> Side | None:
    """A side as it is now, or None when there is no such session.

    Figures that are missing, or of older files, are asked for.
    """
    records = await run_in_threadpool(_records, services.database, ref)
    if records is None:
        return None
    run, session = records
    try:
        files = await ToolAnswers(services).list_session(session.locations)
    except LoaderError as error:
        return Side(run, session, Standing.FAILED, problem=error.message)
    summary = await run_in_threadpool(get_summary, services.database, session.uid)
    standing = standing_of(summary, digest_of(files.hosts))
    is_current = summary is not None and summary.state.engine == services.engine_version
    if standing is not Standing.READY or not is_current:
        services.figures.ask(session, Wish.NEEDED, files)
    return Side(
        run,
        session,
        standing,
        summary.figures if summary and standing is Standing.READY else None,
        summary.state.problem if summary else "",
        len(files.hosts),
    )


def compare_sides(left: Side, right: Side) -> Compared:
    """What differs between two sides."""
    standings = {left.standing, right.standing}
    if Standing.FAILED in standings:
        standing = Standing.FAILED
    else:
        standing = Standing.PENDING if Standing.PENDING in standings else Standing.READY
    found = None
    if left.figures is not None and right.figures is not None:
        found = compare(left.figures, right.figures)
    warnings = (
        *_missing_hosts("left", left),
        *_missing_hosts("right", right),
        *(found.warnings if found else ()),
    )
    configs = compare_configs(left.run.configs, right.run.configs)
    return Compared(left, right, standing, found, configs, warnings)


def _missing_hosts(where: str, side: Side) -> tuple[str, ...]:
    expected, found = side.session.expected_hosts, side.found_hosts
    if expected is None or found is None or found >= expected:
        return ()
    return (f"The {where} session has {found} of {expected} hosts.",)


def _records(database: Database, ref: SessionRef) -> tuple[Run, ProfilerSession] | None:
    try:
        return get_run(database, ref.run), get_session(database, ref.run, ref.session)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        return None
