"""The model at the size of one machine, with the same people as the load test: both can be compared.

No autoscaler, a fixed number of workers with one slot each, and processors that front end, workers and the
load itself share. People come back: each has one link open at a time and looks at the next when done.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from bench.capacity_model.answers import Answers, Key, Results
from bench.capacity_model.costs import Profile
from bench.capacity_model.measured import MeasuredLoad, SingleCosts, SizeCosts
from bench.capacity_model.pool import Action, Clock, Job, Pool, PoolSpec
from bench.capacity_model.processors import Processors
from bench.capacity_model.scaling import Fixed
from bench.visits import Habits, Visit, class_of, draw_visit, rank_of

_REDIS_BYTES = float(256 << 20)
_SPAWNED_A_SECOND = 10.0
_FIRST_SMALL, _LATER_SMALL = 2, 3
"""Small requests with the first page, and one after the other once it is there."""
_TRACE_SMALL = 2
"""Before the first window: the list of hosts, and the trace viewer's page."""
_FIRST_LOOKUPS = 3
"""Answers that the hub looks for with the first page, which are one here: tools, overview, and the status."""
_NOTICE_SECONDS = 2.0
_LEAST_CORES = 0.25
"""Others never take everything."""
Then = Callable[[], None]


@dataclass
class Predicted:
    """What the model says of a load.

    Attributes:
        openings: first pages that were complete.
        requests: that were asked.
        waits: seconds until each first page.
        kept: share of answers that were in the cache.
        busy: seconds of processor time that all used together.
    """

    openings: int = 0
    requests: int = 0
    waits: list[float] = field(default_factory=list)
    kept: float = 0.0
    busy: float = 0.0


def profile_of(size: SizeCosts) -> Profile:
    """A size as the model's answers know classes; nothing is made again from an artifact here."""
    return Profile(
        size.name, size.share, 0, size.overview, 0, size.trace, 0, size.tool, size.zoom, "measured"
    )


class OneMachine:
    """One load on one machine.

    Args:
        load: how many people, workers, cores, and for how long; nothing of what it showed is used.
        costs: of single requests.
        habits: of people.
        seed: the same seed gives the same outcome.
    """

    def __init__(
        self, load: MeasuredLoad, costs: SingleCosts, habits: Habits, seed: int = 1
    ) -> None:
        self._plan, self._costs, self._habits = load, costs, habits
        self._seed = seed
        self._clock = Clock()
        self._processors = Processors(self._clock, max(_LEAST_CORES, load.cores - load.others))
        self._front, self._load = self._pool(1), self._pool(1)
        self._workers = self._pool(load.workers)
        profiles = [profile_of(size) for size in costs.sizes]
        order = list(range(load.sessions))
        random.Random(seed).shuffle(order)
        self._sessions = order
        self._answers = Answers(
            self._clock,
            self._workers,
            Results(self._clock, _REDIS_BYTES),
            lambda session: profiles[class_of(session, [each.share for each in profiles])],
        )
        self._looked = self._kept = 0
        self.predicted = Predicted()

    def run(self) -> Predicted:
        """Plays it."""
        for number in range(self._plan.people):
            begin = partial(
                self._visit, random.Random(f"{self._seed}-person-{number}"), is_first=True
            )
            self._clock.at(number / _SPAWNED_A_SECOND, begin)
        if self._plan.job_seconds:
            self._clock.at(0.0, lambda: self._attach(random.Random(f"{self._seed}-job")))
        self._clock.run(self._plan.seconds)
        self.predicted.kept = self._kept / self._looked if self._looked else 0.0
        self.predicted.busy = self._processors.used
        return self.predicted

    def _pool(self, instances: int) -> Pool:
        spec = PoolSpec(1, 0, is_hashed=True)
        return Pool(self._clock, spec, Fixed(instances), work=self._processors.run)

    def _visit(self, rng: random.Random, is_first: bool = False) -> None:
        """Somebody opens a link, looks around, and opens the next; at first his browser has nothing."""
        session = self._sessions[rank_of(rng.random(), len(self._sessions))]
        is_new = rng.random() < self._habits.new_people or is_first
        self._look_at(session, is_new, rng, lambda: self._visit(rng))

    def _attach(self, rng: random.Random) -> None:
        """A job attaches a session, which is converted in advance; a moment later somebody opens it."""
        session = len(self._sessions) + int(rng.random() * 1e9)

        def attached() -> None:
            for kind in ("overview", "trace"):
                self._answers.give((session, kind, 0), _nothing, is_ahead=True)
            self._after(_NOTICE_SECONDS, lambda: self._look_at(session, False, rng, over))

        def over() -> None:
            self._after(self._plan.job_seconds, lambda: self._attach(rng))

        self._ask_small(2, attached)

    def _look_at(self, session: int, is_new: bool, rng: random.Random, then: Then) -> None:
        visit = draw_visit(rng, self._habits)
        steps: list[Callable[[Then], None]] = [
            lambda go: self._open(session, is_new, go),
            lambda go: self._ask_small(_LATER_SMALL, go),
            *self._parts(session, visit, rng),
        ]
        self._one_by_one(steps, then)

    def _parts(
        self, session: int, visit: Visit, rng: random.Random
    ) -> list[Callable[[Then], None]]:
        """What is looked at after the first page, each part with a pause before it."""
        keys: list[tuple[int, Key]] = []
        if visit.has_trace:
            keys.append((_TRACE_SMALL, (session, "trace", 0)))
            keys += [(0, (session, "zoom", window)) for window in visit.zooms]
        if visit.tool is not None:
            keys.append((0, (session, "tool", visit.tool)))
        steps: list[Callable[[Then], None]] = [lambda go: self._pause(rng, go)]
        for small, key in keys:
            steps.append(partial(self._ask_small, small))
            steps.append(partial(self._ask_data, key))
            steps.append(lambda go: self._pause(rng, go))
        return steps

    def _open(self, session: int, is_new: bool, then: Then) -> None:
        """The first page: the page, then its files and data at once."""
        clicked = self._clock.now
        files = self._costs.first_files if is_new else 0
        # Page's data and list of tools are one in the model's answers, but two requests.
        left = [_FIRST_SMALL + files + 2]

        def came() -> None:
            left[0] -= 1
            if not left[0]:
                self.predicted.openings += 1
                self.predicted.waits.append(self._clock.now - clicked)
                then()

        def page_came() -> None:
            self._ask_data((session, "overview", 0), came)
            self._request(self._costs.data, came)
            for _ in range(_FIRST_SMALL):
                self._request(self._costs.small, came)
            for _ in range(files):
                self._request(self._costs.file, came)

        self._request(self._costs.page, page_came)

    def _ask_small(self, count: int, then: Then) -> None:
        """Small requests, one after the other."""
        steps = [lambda go: self._request(self._costs.small, go)] * count
        self._one_by_one(steps, then)

    def _ask_data(self, key: Key, then: Then) -> None:
        def looked_up() -> None:
            was_there = self._answers.give(key, lambda: self._relay(then))
            lookups = _FIRST_LOOKUPS if key[1] == "overview" else 1
            self._looked += lookups
            self._kept += was_there * lookups
            if was_there:
                then()

        self._request(self._costs.data, looked_up)

    def _relay(self, then: Then) -> None:
        """What a worker has made goes through the front end."""
        self._front.submit(Job(self._costs.relayed, 0, then))

    def _request(self, seconds: float, then: Then) -> None:
        """One request: the load sends it, the front end answers."""
        self.predicted.requests += 1
        self._load.submit(
            Job(self._costs.load, 0, lambda: self._front.submit(Job(seconds, 0, then)))
        )

    def _one_by_one(self, steps: Sequence[Callable[[Then], None]], then: Then) -> None:
        if not steps:
            then()
            return
        steps[0](lambda: self._one_by_one(steps[1:], then))

    def _pause(self, rng: random.Random, then: Then) -> None:
        self._after(self._plan.pause * (0.5 + rng.random()), then)

    def _after(self, seconds: float, act: Action) -> None:
        self._clock.at(self._clock.now + seconds, act)


def _nothing() -> None:
    """Nobody waits for it."""
