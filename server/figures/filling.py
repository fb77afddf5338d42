"""Making sessions' figures in the background: a few sessions at a time, those that somebody waits for first.

No page waits for this, and nothing here fails a request. Several front ends may make the same figures: the
work is shared by workers, and each front end writes the same.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from loader.catalog import SessionFiles, digest_of, list_session
from loader.errors import LoaderError
from loader.storage.base import Storage
from loader.turns.admission import Urgency
from server.figures.collecting import Collected, Collector
from server.figures.freshness import Wish, has_work
from server.figures.reading import read_figures
from server.registry.database import Database
from server.registry.prewarm import PrewarmState
from server.registry.records import ProfilerSession, SessionState
from server.registry.summaries import (
    FigureState,
    HostSize,
    SessionSummary,
    get_summary,
    keep_summary,
)
from server.tracing.background import begin_background_trace
from server.xprof.prewarm import PrewarmRules

_MOST_WAITING = {Wish.KEPT: 200, Wish.MADE: 200, Wish.NEEDED: 50}
"""Of one front end; more are not taken, and asked for again by the next page that misses them."""
_AT_ONCE = {Wish.KEPT: 2, Wish.MADE: 1, Wish.NEEDED: 2}
_LONGEST_SECONDS = 1800.0
_PAUSE_SECONDS = {Wish.KEPT: 30.0, Wish.MADE: 30.0, Wish.NEEDED: 5.0}
"""How long a session is not looked at again, however often it is asked for."""
_MOST_RECENT = 2000
T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Job:
    session: ProfilerSession
    wish: Wish
    files: SessionFiles | None


class Figures:
    """Fills the registry with sessions' summaries.

    Lives in one event loop; `ask` may be called from any thread.

    Args:
        database: holds the summaries.
        storage: lists sessions' files.
        collector: gets XProf's answers.
        rules: which sessions workers are asked about when nobody waits.
        limiter: threads that wait for the storage.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        collector: Collector,
        rules: PrewarmRules,
        limiter: anyio.CapacityLimiter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._storage = storage
        self._collector = collector
        self._rules = rules
        self._limiter = limiter
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots = {wish: asyncio.Semaphore(most) for wish, most in _AT_ONCE.items()}
        self._tasks: dict[tuple[str, Wish], asyncio.Task[None]] = {}
        self._recent: OrderedDict[tuple[str, Wish], float] = OrderedDict()

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self._tasks

    def start(self) -> None:
        """Begins to take questions; called in the event loop."""
        self._loop = asyncio.get_running_loop()

    async def aclose(self) -> None:
        """Ends all work; what was not done is asked for again by the next page that misses it."""
        self._loop = None
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def ask(
        self,
        session: ProfilerSession,
        wish: Wish = Wish.MADE,
        files: SessionFiles | None = None,
    ) -> None:
        """Has a session's summary made or renewed if that is due; returns at once, from any thread.

        Args:
            session: the session.
            wish: how much its figures are wanted.
            files: its files, if they were just listed.
        """
        loop = self._loop
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(self._begin, _Job(session, wish, files))
        except RuntimeError:  # the loop has ended in this moment, and nobody waits any more
            logger.debug("figures were asked for at the very end")

    def _begin(self, job: _Job) -> None:
        key = (job.session.uid, job.wish)
        waiting = sum(wish is job.wish for _, wish in self._tasks)
        if self._loop is None or key in self._tasks or waiting >= _MOST_WAITING[job.wish]:
            return
        if job.files is None and self._was_recent(key):
            return
        task = self._loop.create_task(self._run(job))
        self._tasks[key] = task
        task.add_done_callback(lambda _task: self._end(key))

    def _was_recent(self, key: tuple[str, Wish]) -> bool:
        return self._clock() - self._recent.get(key, float("-inf")) < _PAUSE_SECONDS[key[1]]

    def _end(self, key: tuple[str, Wish]) -> None:
        self._tasks.pop(key, None)
        self._recent[key] = self._clock()
        self._recent.move_to_end(key)
        while len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)

    async def _run(self, job: _Job) -> None:
        begin_background_trace()
        try:
            async with self._slots[job.wish], asyncio.timeout(_LONGEST_SECONDS):
                await self._fill(job)
        except TimeoutError:
            logger.warning("a session's figures were not made within half an hour")
        except (LoaderError, SQLAlchemyError) as problem:
            logger.info("a session's figures were not made: %s", type(problem).__name__)
        except Exception:  # the background has nobody else who would say it
            logger.exception("a session's figures could not be made")

    async def _fill(self, job: _Job) -> None:
        uid = job.session.uid
        files = job.files or await self._list(job.session.locations)
        digest, now = digest_of(files.hosts), datetime.now(UTC)
        old = await _in_thread(lambda: get_summary(self._database, uid))
        if not has_work(old, digest, self._collector.engine_version, job.wish, now):
            return
        if old is None or old.digest != digest:
            old = _without_figures(files, digest, now)
            await self._keep(uid, old)
        known = old
        urgency = self._urgency(job, files)
        found = await self._collector.collect(files, urgency)
        if found.answers or urgency is not None:
            # Going through a long answer takes a while, too, which people need not wait for.
            await self._keep(uid, await _in_thread(lambda: self._filled(known, found)))

    def _urgency(self, job: _Job, files: SessionFiles) -> Urgency | None:
        """With which urgency missing answers are made; None if they are not."""
        if job.wish is Wish.NEEDED:
            return Urgency.PERSON
        session = job.session
        if session.prewarm == PrewarmState.CANCELLED or session.state is SessionState.OPEN:
            return None
        may = self._rules.first_state(files, session.expected_hosts, job.wish is Wish.MADE)
        return Urgency.PREWARM if may is PrewarmState.WAITING else None

    def _filled(self, old: SessionSummary, found: Collected) -> SessionSummary:
        """The summary with what was found; what was known already of these files is not lost again."""
        figures = read_figures(found.answers, found.gaps) if found.answers else None
        if not found.is_whole:
            state = FigureState(problem=found.problem)
            return replace(
                old, figures=figures or old.figures, state=state, looked=datetime.now(UTC)
            )
        problem = "" if figures else " ".join(found.gaps)
        state = FigureState(self._collector.engine_version, problem, is_final=True)
        return replace(old, figures=figures, state=state, looked=datetime.now(UTC))

    async def _list(self, locations: tuple[str, ...]) -> SessionFiles:
        return await anyio.to_thread.run_sync(
            list_session, self._storage, locations, limiter=self._limiter
        )

    async def _keep(self, uid: str, summary: SessionSummary) -> None:
        await _in_thread(lambda: keep_summary(self._database, uid, summary))


async def _in_thread(call: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(call)


def _without_figures(files: SessionFiles, digest: str, now: datetime) -> SessionSummary:
    hosts = tuple(HostSize(entry.host, entry.file.size) for entry in files.hosts)
    return SessionSummary(digest, hosts, sum(host.bytes for host in hosts), None, now)
