"""Converting a session in advance, when it is attached, so that the first click is a hit.

Runs in the background of the front end that took the session in, a few sessions at a time, at a lower
priority than people's requests. Its state lies in the registry, so that any front end can show and cancel
it. Nothing here delays or fails a request; what goes wrong is logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

import anyio.to_thread
from sqlalchemy.exc import SQLAlchemyError

from loader.caches.results import ResultStore
from loader.catalog import SessionFiles
from loader.errors import CACHEABLE, LoaderError
from loader.keys import ToolRequest
from loader.plan import plan_for
from loader.tools import ALL_HOSTS
from server.figures.freshness import Wish
from server.fleet.patient_asking import ask_patiently
from server.fleet.workers import Workers
from server.registry.database import Database
from server.registry.prewarm import (
    UNDER_WAY,
    PrewarmState,
    change_prewarm,
    read_prewarm,
)
from server.registry.records import ProfilerSession
from server.tracing.background import begin_background_trace
from server.xprof.queries import DATA, request_of_route

LONGEST = timedelta(hours=1)
"""After this time a prewarm is given up; one that still seems under way has lost its front end."""
_SESSIONS_AT_ONCE = 2
_MOST_SESSIONS = 200
"""Of one front end, waiting or under way: who attaches an archive does not keep the workers busy for days."""
_LOOK_SECONDS = 2.0
"""How often a running prewarm looks whether somebody has cancelled it."""
T = TypeVar("T")
HandOn = Callable[[ProfilerSession, Wish, SessionFiles | None], None]
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PrewarmRules:
    """Which sessions are converted in advance.

    Attributes:
        is_on: whether any is.
        most_bytes: size of the largest one, all hosts together.
    """

    is_on: bool
    most_bytes: int

    def first_state(
        self, files: SessionFiles, expected_hosts: int | None, is_wanted: bool = True
    ) -> PrewarmState:
        """The state in which a session begins.

        One whose hosts are not all there is skipped: with the next host, every answer is another one.
        """
        size = sum(entry.file.size for entry in files.hosts)
        is_whole = len(files.hosts) >= (expected_hosts or 0)
        may = self.is_on and is_wanted and is_whole and size <= self.most_bytes
        return PrewarmState.WAITING if may else PrewarmState.SKIPPED


def first_requests(files: SessionFiles) -> list[ToolRequest]:
    """What XProf's page asks for when a session, and its trace viewer, are opened for the first time.

    Observed with xprof 2.24.2 (tests/browser): the overview of all hosts, the trace of the first one. Order
    is that of need.
    """
    first = files.host_names[0]
    asked = [
        ("status", {}),
        ("run_tools", {}),
        (DATA, {"tag": "overview_page", "host": ALL_HOSTS}),
        (DATA, {"tag": "trace_viewer@", "host": first, "hosts": first}),
    ]
    return [request_of_route(route, files, query) for route, query in asked]


def shown_state(session: ProfilerSession, now: datetime) -> PrewarmState:
    """The state as people see it: one that has been under way for too long has lost its front end."""
    state = PrewarmState(session.prewarm)
    # One that was found begins to be converted when its hosts have stopped to change.
    begun = max(session.created, session.seen_changed or session.created)
    is_lost = state in UNDER_WAY and now - begun > LONGEST
    return PrewarmState.FAILED if is_lost else state


class Prewarmer:
    """Converts sessions in advance. Lives in one event loop.

    Args:
        database: holds the states.
        results: finished answers.
        workers: make the missing ones.
        engine_version: part of every answer's key.
        rules: which sessions are converted.
        ended: called with the outcome of each.
        hand_on: called with each session, what it may cost to look further into it, and its files if they
            were just listed: once it is converted, or at once if it is not to be.
        most: sessions that wait or are under way; further ones are skipped.
    """

    def __init__(
        self,
        database: Database,
        results: ResultStore,
        workers: Workers,
        engine_version: str,
        rules: PrewarmRules,
        ended: Callable[[PrewarmState], None],
        hand_on: HandOn | None = None,
        most: int = _MOST_SESSIONS,
    ) -> None:
        self._database = database
        self._results = results
        self._workers = workers
        self._engine_version = engine_version
        self._rules = rules
        self._most = most
        self._ended = ended
        self._hand_on = hand_on
        self._slots = asyncio.Semaphore(_SESSIONS_AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    def first_state(
        self, files: SessionFiles, expected_hosts: int | None, is_wanted: bool = True
    ) -> PrewarmState:
        """The state in which a session begins, by the rules and by how many wait already."""
        if len(self._tasks) >= self._most:
            return PrewarmState.SKIPPED
        return self._rules.first_state(files, expected_hosts, is_wanted)

    def start(self, session: ProfilerSession, files: SessionFiles) -> None:
        """Begins to convert a session that waits for it; called in the event loop, returns at once."""
        if session.prewarm == PrewarmState.WAITING:
            task = asyncio.create_task(self._prewarm(session, files))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif self._hand_on is not None:
            self._hand_on(session, Wish.KEPT, files)

    async def aclose(self) -> None:
        """Ends all conversions in advance; those that were not done count as failed."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _prewarm(self, session: ProfilerSession, files: SessionFiles) -> None:
        begin_background_trace()
        outcome = PrewarmState.FAILED
        try:
            async with asyncio.timeout(LONGEST.total_seconds()):
                outcome = await self._take_turn(session.uid, files)
        except TimeoutError:
            logger.warning("a session was not converted in advance within an hour")
        except Exception:  # the background has nobody else who would say it
            logger.exception("a session could not be converted in advance")
        finally:
            await self._finish(session.uid, outcome)
        if outcome is PrewarmState.DONE and self._hand_on is not None:
            # It may have taken an hour: what lies there now is looked at anew.
            self._hand_on(session, Wish.MADE, None)

    async def _take_turn(self, uid: str, files: SessionFiles) -> PrewarmState:
        async with self._slots:
            if await self._change(uid, PrewarmState.RUNNING, {PrewarmState.WAITING}):
                return await self._convert_unless_cancelled(uid, files)
        return PrewarmState.CANCELLED

    async def _finish(self, uid: str, outcome: PrewarmState) -> None:
        self._ended(outcome)
        try:
            await self._change(uid, outcome, UNDER_WAY)
        except SQLAlchemyError as problem:
            logger.warning("the state of a prewarm was not kept: %s", type(problem).__name__)

    async def _convert_unless_cancelled(self, uid: str, files: SessionFiles) -> PrewarmState:
        """Converts until all is there, the session is deleted, or its state says that it is enough."""
        work = asyncio.create_task(self._convert(files))
        try:
            while True:
                done, _ = await asyncio.wait({work}, timeout=_LOOK_SECONDS)
                if done:
                    return work.result()
                if await self._state(uid) is not PrewarmState.RUNNING:
                    return PrewarmState.CANCELLED
        finally:
            # Closes the request's connection, which makes the worker stop.
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _convert(self, files: SessionFiles) -> PrewarmState:
        outcome = PrewarmState.DONE
        for request in first_requests(files):
            try:
                await self._make(files, request)
            except LoaderError as error:
                # What lies in the profile is the answer that people will get, too.
                if error.code not in CACHEABLE:
                    logger.warning("%s was not made in advance: %s", request.tool, error.message)
                    outcome = PrewarmState.FAILED
        return outcome

    async def _make(self, files: SessionFiles, request: ToolRequest) -> None:
        plan = await _in_thread(lambda: plan_for(files, self._engine_version, request))
        if not await _in_thread(lambda: self._results.contains(plan.key)):
            answer = await ask_patiently(self._workers, request)
            await answer.close()

    async def _change(
        self, uid: str, state: PrewarmState, allowed_from: Collection[PrewarmState]
    ) -> bool:
        return await _in_thread(lambda: change_prewarm(self._database, uid, state, allowed_from))

    async def _state(self, uid: str) -> PrewarmState | None:
        return await _in_thread(lambda: read_prewarm(self._database, uid))


async def _in_thread(call: Callable[[], T]) -> T:
    return await anyio.to_thread.run_sync(call)
