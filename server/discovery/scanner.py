"""The loop that looks: one front end at a time, so many looks a moment, paused where storage is in trouble.

The lease lies in the registry. A front end that has it works off what is due in small batches; one that dies
loses it within half a minute, and the next goes on where it stopped, because all state is in the registry.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import anyio
import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from loader.errors import ErrorCode
from server.discovery.looking import Completed, DiscoveryRules, Looked, Looker
from server.registry.database import Database
from server.registry.leases import give_lease_back, take_lease
from server.registry.looks import (
    Look,
    LookKind,
    add_looks,
    due_looks,
    enlist_runs_and_sessions,
    remove_other_roots,
)
from server.tracing.background import begin_background_trace

LEASE = "discovery"
_LEASE_LASTS = timedelta(seconds=30)
_TICK_SECONDS = 2.0
_LOOKS_AT_ONCE = 8
MOST_LOOKS = 50
"""In one tick: with a tick of two seconds at most 25 a second, whatever waits."""
_LONGEST_PAUSE = timedelta(minutes=5)
logger = logging.getLogger(__name__)


class Scanner:
    """Works off what is due.

    Args:
        database: the registry.
        looker: looks.
        rules: which roots there are.
        completed: called in the event loop with each session that is complete.
        clock: tells the time in UTC.
    """

    def __init__(
        self,
        database: Database,
        looker: Looker,
        rules: DiscoveryRules,
        completed: Callable[[Completed], Awaitable[None]],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._looker = looker
        self._rules = rules
        self._completed = completed
        self._clock = clock
        self._holder = uuid4().hex
        self._threads = anyio.CapacityLimiter(_LOOKS_AT_ONCE)
        self._is_enlisted = False
        self._task: asyncio.Task[None] | None = None
        self._resumes = datetime.min.replace(tzinfo=UTC)
        self._troubles = 0

    def start(self) -> None:
        """Begins to look, in the running event loop."""
        self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Ends looking and lets another front end begin at once."""
        if self._task is None:
            return
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        with contextlib.suppress(SQLAlchemyError):
            await anyio.to_thread.run_sync(give_lease_back, self._database, LEASE, self._holder)

    async def _run(self) -> None:
        while True:
            begin_background_trace()
            try:
                for one in await self.tick():
                    await self._tell(one)
            except SQLAlchemyError as problem:
                logger.warning("discovery waits for the registry: %s", type(problem).__name__)
            except Exception:  # the loop is all there is; the next tick may fare better
                logger.exception("a tick of discovery failed")
            await asyncio.sleep(_TICK_SECONDS)

    async def _tell(self, one: Completed) -> None:
        try:
            await self._completed(one)
        except (
            Exception
        ):  # nobody finds it complete a second time, so the others must be told of now
            logger.exception("a complete session was not seen to")

    async def tick(self) -> list[Completed]:
        """Looks at what is due, if it is this front end's turn; the sessions that are complete since.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the registry does not answer.
        """
        now = self._clock()
        due = await anyio.to_thread.run_sync(self._take_work, now)
        tasks = [asyncio.create_task(self._look(look, now)) for look in due]
        try:
            pending = set(tasks)
            while pending:
                _, pending = await asyncio.wait(pending, timeout=_LEASE_LASTS.total_seconds() / 3)
                await anyio.to_thread.run_sync(self._has_turn, self._clock())
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        looked = [one for one in outcomes if isinstance(one, Looked)]
        self._pause_after_trouble(looked, now)
        failed = [problem for problem in outcomes if isinstance(problem, Exception)]
        if failed:
            logger.warning("%d looks failed: %s", len(failed), type(failed[0]).__name__)
        return [one.completed for one in looked if one.completed is not None]

    async def _look(self, look: Look, now: datetime) -> Looked:
        # A front end that ends does not wait for a bucket that doesn't answer.
        return await anyio.to_thread.run_sync(
            self._looker.look, look, now, limiter=self._threads, abandon_on_cancel=True
        )

    def _take_work(self, now: datetime) -> tuple[Look, ...]:
        """What is due, if it is this front end's turn to look."""
        if not self._has_turn(now):
            self._is_enlisted = False
            return ()
        if not self._is_enlisted:
            enlist_fixed(self._database, self._rules.roots, now)
            self._is_enlisted = True
        enlist_runs_and_sessions(self._database, now)
        return () if now < self._resumes else due_looks(self._database, now, MOST_LOOKS)

    def _has_turn(self, now: datetime) -> bool:
        return take_lease(self._database, LEASE, self._holder, now=now, lasting=_LEASE_LASTS)

    def _pause_after_trouble(self, looked: Sequence[Looked], now: datetime) -> None:
        """Leaves storage alone for a while when most of what was asked of it failed."""
        if not is_in_trouble(looked):
            self._troubles = 0
            return
        self._troubles += 1
        pause = min(timedelta(seconds=5) * (1 << min(self._troubles, 10)), _LONGEST_PAUSE)
        self._resumes = now + pause
        logger.warning("storage is in trouble; discovery pauses for %d s", pause.total_seconds())


def enlist_fixed(database: Database, roots: Sequence[str], now: datetime) -> None:
    """Lists the roots and the look for silent runs, and drops roots that are not set any more."""
    remove_other_roots(database, roots)
    fixed = [Look(LookKind.ROOT, root, "", now) for root in roots]
    add_looks(database, [*fixed, Look(LookKind.SILENCE, "", "", now)])


def is_in_trouble(looked: Sequence[Looked]) -> bool:
    """Whether storage failed at most of what it was asked."""
    troubles = [
        one
        for one in looked
        if one.failure is not None and one.failure.code is ErrorCode.STORAGE_UNAVAILABLE
    ]
    return len(troubles) * 2 > len(looked)
