"""Which answers are kept, who makes them once, and what making one takes: the caches and the single flight.

An answer lies in Redis until its time is over or its space is needed. If it is not there, a worker makes it:
from the profile, the first time, which leaves an artifact; after that from the artifact.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from bench.capacity_model import costs
from bench.capacity_model.pool import Clock, Job, Pool

Key = tuple[int, str, int]
"""Session, kind of answer (`costs.RESULT_BYTES`), and which one of its kind."""
Told = Callable[[], None]
_DAY = 86_400.0
_FAMILIES = {"overview": "stats", "tool": "stats", "trace": "trace", "zoom": "trace"}
_FIRST = {"stats": "overview", "trace": "trace"}
"""The answer that makes a family's artifact on the way."""


class Results:
    """The results in Redis: those that were used least go first, and all go after some days.

    Args:
        clock: simulated time.
        most_bytes: what Redis holds.
    """

    def __init__(self, clock: Clock, most_bytes: float) -> None:
        self._clock, self._most = clock, most_bytes
        self._ends: OrderedDict[Key, float] = OrderedDict()
        self.bytes = 0

    def has(self, key: Key) -> bool:
        """Whether the answer is there; looking at it keeps it from being the least used."""
        end = self._ends.get(key)
        if end is None:
            return False
        if end <= self._clock.now:
            self._forget(key)
            return False
        self._ends.move_to_end(key)
        return True

    def put(self, key: Key) -> None:
        """Keeps an answer."""
        if key in self._ends:
            self._forget(key)
        self._ends[key] = self._clock.now + costs.RESULT_DAYS.value * _DAY
        self.bytes += costs.RESULT_BYTES[key[1]]
        while self.bytes > self._most:
            self._forget(next(iter(self._ends)))

    def _forget(self, key: Key) -> None:
        del self._ends[key]
        self.bytes -= costs.RESULT_BYTES[key[1]]


@dataclass
class Counts:
    """What happened to those who asked.

    Attributes:
        hits: the answer was there.
        joined: it was being made for somebody else.
        from_artifact: it was made from an artifact.
        from_profile: it was made from the profile.
    """

    hits: int = 0
    joined: int = 0
    from_artifact: int = 0
    from_profile: int = 0

    @property
    def asked(self) -> int:
        """All."""
        return self.hits + self.joined + self.from_artifact + self.from_profile


class Answers:
    """Gives answers: kept ones at once, others when a worker has made them, once for all who wait.

    Args:
        clock: simulated time.
        workers: who makes them.
        results: where they are kept.
        profile_of: the class of a session.
    """

    def __init__(
        self,
        clock: Clock,
        workers: Pool,
        results: Results,
        profile_of: Callable[[int], costs.Profile],
    ) -> None:
        self._clock, self._workers, self._results = clock, workers, results
        self._profile_of = profile_of
        self._artifacts: set[tuple[int, str]] = set()
        self._known = 0
        self._making: dict[Key, list[Told]] = {}
        self._after: dict[tuple[int, str], list[Key]] = {}
        self.people, self.ahead = Counts(), Counts()

    def know(self, sessions: int) -> None:
        """The first so many sessions have artifacts already."""
        self._known = sessions

    def give(self, key: Key, told: Told, is_ahead: bool = False) -> bool:
        """Asks for an answer.

        Args:
            key: which one.
            told: called when it has been made; not if it was there.
            is_ahead: whether nobody waits for it.

        Returns:
            Whether it was there.
        """
        counts = self.ahead if is_ahead else self.people
        if self._results.has(key):
            counts.hits += 1
            return True
        if (waiting := self._making.get(key)) is not None:
            counts.joined += 1
            waiting.append(told)
            return False
        self._making[key] = [told]
        family = (key[0], _FAMILIES[key[1]])
        if key[0] < self._known or family in self._artifacts:
            counts.from_artifact += 1
            self._make(key, self._seconds_again(key), is_ahead)
        elif family in self._after:
            counts.from_artifact += 1
            self._after[family].append(key)
        else:
            counts.from_profile += 1
            self._after[family] = []
            self._make(key, self._seconds_first(key), is_ahead)
        return False

    def _make(self, key: Key, seconds: float, is_ahead: bool = False) -> None:
        self._workers.submit(Job(seconds, key[0], lambda: self._made(key), is_ahead))

    def _made(self, key: Key) -> None:
        self._results.put(key)
        family = (key[0], _FAMILIES[key[1]])
        self._artifacts.add(family)
        for waiting in self._after.pop(family, ()):
            self._make(waiting, self._seconds_again(waiting))
        for told in self._making.pop(key):
            told()

    def _seconds_first(self, key: Key) -> float:
        """From the bucket: the download, and what makes the artifact, and what was asked."""
        profile = self._profile_of(key[0])
        first = _FIRST[_FAMILIES[key[1]]]
        seconds = profile.overview if first == "overview" else profile.trace
        more = 0.0 if key[1] == first else self._seconds_again(key)
        return profile.megabytes / costs.DOWNLOAD.value + seconds + more

    def _seconds_again(self, key: Key) -> float:
        """From the artifact."""
        profile = self._profile_of(key[0])
        return {
            "overview": profile.overview_again,
            "trace": profile.trace_again,
            "tool": profile.tool,
            "zoom": profile.zoom,
        }[key[1]]
