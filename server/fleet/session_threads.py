"""Threads that wait for answers, of which no session takes all: other sessions are answered meanwhile.

Knows nothing of what the threads do. Lives in one event loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")


@dataclass
class _Own:
    limiter: anyio.CapacityLimiter
    users: int = 0


class SessionThreads:
    """Runs calls in threads; whose session has all that it may have waits, without a thread, for one of them.

    Args:
        most: threads of all together.
        share: threads of one session.
    """

    def __init__(self, most: int, share: int) -> None:
        self._all = anyio.CapacityLimiter(most)
        self._share = share
        self._own: dict[str, _Own] = {}

    async def run(self, session: str, call: Callable[[], T]) -> T:
        """What the call returns or raises. It goes on when whoever waits for it is cancelled."""
        async with self._place_of(session):
            return await anyio.to_thread.run_sync(call, limiter=self._all, abandon_on_cancel=True)

    @asynccontextmanager
    async def _place_of(self, session: str) -> AsyncIterator[None]:
        own = self._own.setdefault(session, _Own(anyio.CapacityLimiter(self._share)))
        own.users += 1
        try:
            async with own.limiter:
                yield
        finally:
            own.users -= 1
            if not own.users:
                del self._own[session]
