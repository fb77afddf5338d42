"""When to look at something again: often while it changes, seldom when it is quiet. Pure arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from server.registry.records import RunState

SETTLE = timedelta(seconds=30)
"""How far apart two looks at an open session are, between which nothing may change."""
_ACTIVE_LONGEST = timedelta(minutes=10)
_ENDED_FIRST = timedelta(hours=1)
_LONGEST = timedelta(days=1)
_FAILED_FIRST = timedelta(seconds=30)
_FAILED_LONGEST = timedelta(hours=1)
_EMPTY_LONGEST = timedelta(hours=1)


@dataclass(frozen=True)
class Pace:
    """How often is looked.

    Attributes:
        shortest: between two looks at one folder of what is under way.
    """

    shortest: timedelta

    @property
    def longest_active(self) -> timedelta:
        """Most time between two looks at an active run's folder."""
        return max(_ACTIVE_LONGEST, self.shortest)

    def run(self, state: RunState, unchanged: int) -> timedelta:
        """Until a run's folder is looked at again, after so many looks that found nothing new."""
        if state is RunState.ACTIVE:
            return _doubled(self.shortest, unchanged, self.longest_active)
        return _doubled(_ENDED_FIRST, unchanged, _LONGEST)

    def stranger(self, unchanged: int) -> timedelta:
        """Until a folder that is no run is looked at again."""
        return _doubled(self.shortest, unchanged, _LONGEST)

    def session(self, is_empty: bool, unchanged: int) -> timedelta:
        """Until an open session is looked at again; one without files may wait for them for days."""
        return _doubled(SETTLE, unchanged, _EMPTY_LONGEST) if is_empty else SETTLE


def after_failures(failures: int) -> timedelta:
    """Until something is tried again that failed so many times in a row."""
    return _doubled(_FAILED_FIRST, failures - 1, _FAILED_LONGEST)


def _doubled(first: timedelta, times: int, longest: timedelta) -> timedelta:
    # The exponent is bounded, for a number of looks is not.
    return min(first * (1 << min(max(times, 0), 20)), longest)
