"""How fast those who convert get done, and when who finds no place in the line had better come back.

Arithmetic only: no clock, no thread, and nothing of who waits.
"""

from __future__ import annotations

import math

SHORTEST_SECONDS = 1
LONGEST_SECONDS = 120
"""Who was sent away is never told to come back later than this, whatever is known."""
_FIRST_GUESS_SECONDS = 5.0
"""Of a worker that has not finished anything yet: the first tool of some 30 MB."""
_WEIGHT = 0.2
"""Of the newest conversion, so that about the last ten count."""


class Pace:
    """What a conversion has taken of late. Not thread-safe."""

    def __init__(self) -> None:
        self.seconds = _FIRST_GUESS_SECONDS

    def note(self, seconds: float) -> None:
        """One is done that took so long."""
        self.seconds += _WEIGHT * (seconds - self.seconds)


def seconds_to_come_back(ahead: int, slots: int, seconds_each: float) -> int:
    """When half of those who go first are likely to be done, in whole seconds.

    Half, so that there is a place in the line by then and the worker still has something to do.

    Args:
        ahead: how many convert or wait.
        slots: how many convert at once.
        seconds_each: what one takes.

    Returns:
        1 to 120 (RFC 9110, `Retry-After`, knows whole seconds only).
    """
    half = ahead * seconds_each / slots / 2
    return min(max(math.ceil(half), SHORTEST_SECONDS), LONGEST_SECONDS)
