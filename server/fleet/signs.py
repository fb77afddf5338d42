"""Whether a worker on this machine still gives signs of life: one that stands still never ends by itself.

Asks its probe, which touches nothing. Decides nothing about what is done with a silent one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx2

_ANSWER_SECONDS = 5.0


class SignsOfLife:
    """Remembers when a worker was last heard of; for one thread.

    Args:
        ask: whether the worker answers now.
        patience: seconds without a sign after which it counts as silent.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        ask: Callable[[], bool],
        patience: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._patience = patience
        self._clock = clock
        self._last = clock()

    def begin(self, grace: float) -> None:
        """A worker has just been started, and need not answer for so many seconds."""
        self._last = self._clock() + grace

    def is_silent(self) -> bool:
        """Asks, and says whether it has been silent for too long."""
        if self._ask():
            self._last = self._clock()
            return False
        return self._clock() - self._last >= self._patience


def answers(url: str) -> bool:
    """Whether the worker at this address answers anything within a few seconds."""
    try:
        httpx2.get(f"{url}/healthz", timeout=_ANSWER_SECONDS, trust_env=False)
    except httpx2.HTTPError:
        return False
    return True
