"""Processors that several processes share, as on one machine: whoever works gets the same part of them."""

from __future__ import annotations

from dataclasses import dataclass

from bench.capacity_model.pool import Action, Clock

_ALMOST = 1e-9


@dataclass(slots=True, eq=False)
class _Work:
    left: float
    done: Action


class Processors:
    """Shares some cores equally; no work gets more than one.

    Args:
        clock: simulated time.
        cores: that there are; not a whole number when others use some of them.
    """

    def __init__(self, clock: Clock, cores: float) -> None:
        self._clock, self._cores = clock, cores
        self._works: list[_Work] = []
        self._since = 0.0
        self._looks = 0
        self.used = 0.0

    def run(self, seconds: float, done: Action) -> None:
        """Works so many seconds of one core's time, then tells."""
        self._go_on()
        self._works.append(_Work(seconds, done))
        self._look_again()

    @property
    def _speed(self) -> float:
        """What each gets of a core."""
        return min(1.0, self._cores / len(self._works)) if self._works else 0.0

    def _go_on(self) -> None:
        """Brings the work up to now."""
        passed = (self._clock.now - self._since) * self._speed
        self._since = self._clock.now
        for work in self._works:
            work.left -= passed
        self.used += passed * len(self._works)

    def _look_again(self) -> None:
        """Comes back when the next work ends, unless more comes before."""
        self._looks += 1
        if not self._works:
            return
        mine = self._looks
        least = min(work.left for work in self._works)

        def look() -> None:
            if mine == self._looks:
                self._end_some()

        self._clock.at(self._clock.now + max(0.0, least) / self._speed, look)

    def _end_some(self) -> None:
        self._go_on()
        ended = [work for work in self._works if work.left <= _ALMOST]
        self._works = [work for work in self._works if work.left > _ALMOST]
        self._look_again()
        for work in ended:
            work.done()
