"""Whose turn it is: the order among those who want to convert, without clocks, threads or waiting.

Everyone names when it came and how much memory it will need. People are ordered by the moment they came plus
a handicap that grows with that memory: a small conversion overtakes a huge one that came shortly before, but
none that came long before, and whoever is first and does not fit lets nobody pass. So nobody starves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

_HANDICAP_SECONDS_PER_GIB = 10.0
"""About the time that XProf works for a GiB of its memory (facts: 70 MB, 1.8 GB, 12 s), so that none waits
much longer for those that overtake it than it works itself."""
_LONGEST_HANDICAP_SECONDS = 120.0


class Urgency(StrEnum):
    """For whom an answer is made."""

    PERSON = "person"
    """Somebody waits for it."""
    PREWARM = "prewarm"
    """Nobody does yet; it may wait, and be given up."""


@dataclass(eq=False)
class Turn:
    """One who wants to convert, or does.

    Attributes:
        urgency: for whom, asked again at each look: a person may join.
        memory_bytes: what it will need.
        arrived: when it came, in seconds of any clock.
    """

    urgency: Callable[[], Urgency]
    memory_bytes: int
    arrived: float

    @property
    def is_prewarm(self) -> bool:
        """Whether nobody waits for it now."""
        return self.urgency() is Urgency.PREWARM

    @property
    def due(self) -> float:
        """The place in the order among those of the same urgency."""
        handicap = self.memory_bytes / (1 << 30) * _HANDICAP_SECONDS_PER_GIB
        return self.arrived + min(handicap, _LONGEST_HANDICAP_SECONDS)


class Turns:
    """Those who wait and those who convert. Not thread-safe.

    Args:
        slots: most conversions at once.
        memory_bytes: most memory of all together.
    """

    def __init__(self, slots: int, memory_bytes: int) -> None:
        self.slots = slots
        self.memory_bytes = memory_bytes
        self._waiting: list[Turn] = []
        self._running: list[Turn] = []

    def join(self, turn: Turn) -> None:
        """Someone new waits."""
        self._waiting.append(turn)

    def leave(self, turn: Turn) -> None:
        """Someone is done, or waits no more."""
        for group in (self._waiting, self._running):
            if turn in group:
                group.remove(turn)

    def resize(self, turn: Turn, memory_bytes: int) -> bool:
        """Notes that one who converts needs another amount; if that is not free it waits again: False."""
        self._running.remove(turn)
        turn.memory_bytes = memory_bytes
        fits = self._fits(turn)
        (self._running if fits else self._waiting).append(turn)
        return fits

    def grant(self) -> list[Turn]:
        """Lets everyone convert whose turn it is; those who just got it."""
        granted = []
        for turn in self._in_order():
            if not self._may_run(turn):
                break
            self._waiting.remove(turn)
            self._running.append(turn)
            granted.append(turn)
        return granted

    def is_running(self, turn: Turn) -> bool:
        """Whether it has its turn."""
        return turn in self._running

    def ahead(self, turn: Turn) -> int:
        """How many that wait go before this one."""
        return self._in_order().index(turn)

    def waiting(self, urgency: Urgency) -> int:
        """How many of an urgency wait."""
        return sum(turn.urgency() is urgency for turn in self._waiting)

    @property
    def running(self) -> int:
        """How many convert."""
        return len(self._running)

    @property
    def used_bytes(self) -> int:
        """What those who convert need together."""
        return sum(turn.memory_bytes for turn in self._running)

    def _in_order(self) -> list[Turn]:
        return sorted(self._waiting, key=lambda turn: (turn.is_prewarm, turn.due))

    def _may_run(self, turn: Turn) -> bool:
        """Whether the first in the order may convert: with a prewarm first, no person waits."""
        kept_free = 1 if turn.is_prewarm and self.slots > 1 else 0
        return len(self._running) < self.slots - kept_free and self._fits(turn)

    def _fits(self, turn: Turn) -> bool:
        return not self._running or self.used_bytes + turn.memory_bytes <= self.memory_bytes
