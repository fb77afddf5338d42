"""Answers that are being made while whoever asked has gone and will come back (`Prefer: respond-async`).

Holds no answer: once made, it lies in the result cache or in its worker's. What is held is that somebody is
at it, and for a short time how it ended, so that a failure reaches the one who asks again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from loader.errors import ErrorCode, LoaderError

_KEPT_SECONDS = 60.0
"""How long it is known how an answer ended that nobody has come back for."""
_FULL_SECONDS = 10
"""When to come again who finds too many answers being made."""


@dataclass
class _Work:
    owner: str
    task: asyncio.Task[None]
    ended: float | None = None


class Deferred:
    """The answers of one front end that are being made for nobody who is connected. Lives in one event loop.

    Args:
        most: answers at once; more are refused. Ends that nobody came back for make room.
        share: answers at once for one owner, so that nobody takes the places of all others.
        clock: seconds that only grow.
    """

    def __init__(
        self, most: int = 256, share: int = 16, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._share = share
        self._clock = clock
        self._works: dict[str, _Work] = {}

    def is_running(self, key: str) -> bool:
        """Whether the answer is being made."""
        work = self._works.get(key)
        return work is not None and work.ended is None

    async def finish(
        self, key: str, make: Callable[[], Awaitable[None]], patience: float, owner: str
    ) -> bool:
        """Whether the answer could be made within some seconds; otherwise that goes on.

        Args:
            key: names the answer; who asks for one that is being made already waits for the same work.
            make: has it made.
            patience: seconds to wait.
            owner: in whose share it counts: the session that it is of.

        Raises:
            LoaderError: why it can't be made; told once. BUSY when too many are being made.
        """
        self._forget(self._clock() - _KEPT_SECONDS)
        work = self._works.get(key)
        if work is None:
            self._check_room(owner)
            work = self._begin(key, make, owner)
        done, _ = await asyncio.wait({work.task}, timeout=patience)
        if not done:
            return False
        if self._works.get(key) is work:  # else another caller was told, and it was begun anew
            del self._works[key]
        work.task.result()
        return True

    async def aclose(self) -> None:
        """Gives up what is being made; workers end what they have begun for themselves."""
        tasks = [work.task for work in self._works.values()]
        self._works.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _check_room(self, owner: str) -> None:
        """Makes room for one more.

        Raises:
            LoaderError: BUSY, as there is none.
        """
        if len(self._works) >= self._most:
            self._forget(self._clock())
        running = [work.owner for work in self._works.values() if work.ended is None]
        if running.count(owner) >= self._share:
            what = "Too many answers of this session are being made at once."
        elif len(running) >= self._most:
            what = "Too many answers are being made at once."
        else:
            return
        raise LoaderError(ErrorCode.BUSY, what, retry_after=_FULL_SECONDS)

    def _begin(self, key: str, make: Callable[[], Awaitable[None]], owner: str) -> _Work:
        async def run() -> None:
            await make()

        work = _Work(owner, asyncio.create_task(run()))
        self._works[key] = work

        def note_end(task: asyncio.Task[None]) -> None:
            work.ended = self._clock()
            if not task.cancelled():
                # Looked at, so that a failure nobody comes back for is not reported as forgotten.
                task.exception()

        work.task.add_done_callback(note_end)
        return work

    def _forget(self, until: float) -> None:
        """Forgets what ended up to a time."""
        old = [
            k for k, work in self._works.items() if work.ended is not None and work.ended <= until
        ]
        for key in old:
            del self._works[key]
