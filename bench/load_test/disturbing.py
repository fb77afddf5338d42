"""Workers that die, are told to end, and come, while a load runs; and what people waited meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from bench.load_test.figures import FIRST_PAGE, spread
from bench.load_test.fleet import Fleet
from bench.load_test.plan import Outcome, Sample

AFTERMATH_SECONDS = 10.0
"""How long after each event its answers count as disturbed."""
WORKERS, ADDRESSES = 2, 4
"""Workers at the begin, and addresses that the front end knows."""
QUIET = "at other times"
MOST_EXTRA_SECONDS = 15.0
"""What the longest wait around an event may be above that at other times: a dead worker's lease ends within
6 s, one that stands still is given up after 8 s, and the conversion begins again."""
_DATA = frozenset({FIRST_PAGE, "trace", "zoom", "tool"})


@dataclass(frozen=True)
class Event:
    """Something that happens to a worker.

    Attributes:
        share: of the load's time after which it happens, 0 to 1.
        what: in words.
        act: makes it happen.
    """

    share: float
    what: str
    act: Callable[[Fleet], object]


EVENTS = (
    Event(0.15, "kill -9 of worker 1", lambda fleet: fleet.kill_worker(0)),
    Event(0.25, "worker 1 comes back", lambda fleet: fleet.start_worker(0)),
    Event(0.35, "worker 3 is added", lambda fleet: fleet.start_worker(2)),
    Event(0.50, "worker 2 is told to end", lambda fleet: fleet.end_worker(1)),
    Event(0.65, "worker 4 is added", lambda fleet: fleet.start_worker(3)),
    Event(0.80, "kill -9 of worker 3", lambda fleet: fleet.kill_worker(2)),
)


@dataclass(frozen=True)
class Happened:
    """An event that happened.

    Attributes:
        what: in words.
        at: seconds since the load began.
        took: seconds until it was over: a worker had started or ended.
    """

    what: str
    at: float
    took: float


Waits = Mapping[str, tuple[int, tuple[float, float, float], float]]


class Disturber:
    """Makes events happen at their time, one after the other, beside whoever calls.

    Args:
        fleet: to whose workers.
        seconds: that the load lasts.
    """

    def __init__(self, fleet: Fleet, seconds: float) -> None:
        self._fleet, self._seconds = fleet, seconds
        self._left = list(EVENTS)
        self._pool = ThreadPoolExecutor(1, "disturber")
        self._results: list[Future[Happened]] = []

    def act(self, elapsed: float) -> None:
        """Begins what is due."""
        while self._left and elapsed >= self._left[0].share * self._seconds:
            self._results.append(self._pool.submit(self._happen, self._left.pop(0), elapsed))

    def happened(self) -> list[Happened]:
        """What has happened, once it is over; raises what went wrong."""
        self._pool.shutdown()
        return [result.result() for result in self._results]

    def _happen(self, event: Event, at: float) -> Happened:
        begin = time.monotonic()
        event.act(self._fleet)
        return Happened(event.what, at, time.monotonic() - begin)


def waits_around(samples: Sequence[Sample], happened: Sequence[Happened]) -> Waits:
    """Answers with data after each event and at other times: how many, and the seconds that they took.

    These are percentiles 50, 95 and 99, and the most.
    """
    ends = {one.what: (one.at, one.at + max(one.took, AFTERMATH_SECONDS)) for one in happened}
    found: dict[str, list[float]] = {what: [] for what in (QUIET, *ends)}
    for sample in samples:
        if sample.kind not in _DATA or sample.outcome is not Outcome.OK:
            continue
        last = sample.began + sample.whole
        near = [what for what, (begin, end) in ends.items() if sample.began < end and last > begin]
        for what in near or [QUIET]:
            found[what].append(sample.whole)
    return {what: (len(each), spread(each), max(each, default=0.0)) for what, each in found.items()}


def too_long(waits: Waits) -> list[str]:
    """Around which events somebody waited longer than the hub may make him, in sentences."""
    usual = waits[QUIET][2]
    return [
        f"{what}: somebody waited {most:.1f} s, and {usual:.1f} s at most at other times"
        for what, (_, _, most) in waits.items()
        if most > usual + MOST_EXTRA_SECONDS
    ]
