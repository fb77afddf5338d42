"""How often, and after which pause, the workers' front end asks again an address that has just failed.

Each request by itself makes few attempts. All together may ask addresses that have failed only a little more
often than there are requests, so that a fleet that has gone, or is coming back, isn't asked to death.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from loader.budget import Budget

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 2.0
_SHARE_OF_REQUESTS = 0.1
_EACH_SECOND = 3.0
_AT_ONCE = 30.0
"""As many as a worker may have had in hand when it went, each of which is asked for again."""


def retry_budget() -> Budget:
    """What all requests of one front end may ask again of addresses that have failed."""
    return Budget(_SHARE_OF_REQUESTS, _EACH_SECOND, _AT_ONCE)


def pause_before(retry: int, chance: Callable[[], float] = random.random) -> float:
    """Seconds before the next attempt at an address that has failed: longer each time, never the same.

    Args:
        retry: how many such pauses there were before, for the same request.
        chance: a number from 0 to 1.
    """
    whole = min(_FIRST_PAUSE_SECONDS * 2.0**retry, _LONGEST_PAUSE_SECONDS)
    return whole * (0.5 + chance() / 2)
