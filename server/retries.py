"""How often, and after which pause, the workers' front end asks again an address that has just failed.

Each request by itself makes few attempts. All together may ask addresses that have failed only a little more
often than there are requests, so that a fleet that has gone, or is coming back, isn't asked to death.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 2.0
_SHARE_OF_REQUESTS = 0.1
_EACH_SECOND = 3.0
_AT_ONCE = 30.0
"""As many as a worker may have had in hand when it went, each of which is asked for again."""


def pause_before(retry: int, chance: Callable[[], float] = random.random) -> float:
    """Seconds before the next attempt at an address that has failed: longer each time, never the same.

    Args:
        retry: how many such pauses there were before, for the same request.
        chance: a number from 0 to 1.
    """
    whole = min(_FIRST_PAUSE_SECONDS * 2.0**retry, _LONGEST_PAUSE_SECONDS)
    return whole * (0.5 + chance() / 2)


class RetryBudget:
    """What all requests together may still ask again; not thread-safe.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left = _AT_ONCE
        self._noted = clock()

    def note_request(self) -> None:
        """One more request has come, which earns a part of a retry."""
        self._left = min(self._left + _SHARE_OF_REQUESTS, _AT_ONCE)

    def take(self) -> bool:
        """Uses one retry; False when there is none."""
        now = self._clock()
        earned = (now - self._noted) * _EACH_SECOND
        self._left, self._noted = min(self._left + earned, _AT_ONCE), now
        if self._left < 1:
            return False
        self._left -= 1
        return True
