"""Plays days of openings through front ends, caches and workers, and notes how long people waited."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from bench.capacity_model import costs, prices
from bench.capacity_model.answers import Answers, Counts, Key, Results
from bench.capacity_model.pool import Clock, Job, Pool
from bench.capacity_model.scenarios import HOURS, Platform, Scenario
from bench.visits import class_of, draw_visit, rank_of

_DAY, _HOUR = 86_400.0, 3_600.0
_GIB = 1 << 30


@dataclass
class Outcome:
    """What came of one scenario on one platform; the warm-up does not count unless said.

    Attributes:
        opened: openings, the warm-up's too.
        answered: of these, those that got their first page by the end.
        waits: seconds from click to first page, server side, of each opening that counts.
        miss_waits: the same for those whose overview was not there.
        counts: what became of all answers that people asked for, the warm-up's too.
        days: that count.
        front_seconds: instance-seconds of front ends.
        worker_seconds: of workers.
        most_fronts: at once.
        most_workers: at once.
        jobs: conversions that were begun for, and ended, the warm-up's too.
        sent_bytes: to people.
    """

    opened: int = 0
    answered: int = 0
    waits: list[float] = field(default_factory=list)
    miss_waits: list[float] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    days: float = 0.0
    front_seconds: float = 0.0
    worker_seconds: float = 0.0
    most_fronts: int = 0
    most_workers: int = 0
    jobs: tuple[int, int] = (0, 0)
    sent_bytes: float = 0.0


def percentile(values: list[float], share: float) -> float:
    """The smallest value that so large a share of the values does not exceed; 0 of none."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)] if ranked else 0.0


class Simulation:
    """One scenario on one platform.

    Args:
        scenario: what people do.
        platform: where it runs.
        seed: the same seed gives the same outcome.
    """

    def __init__(self, scenario: Scenario, platform: Platform, seed: int = 1) -> None:
        self._scenario = scenario
        self._random = random.Random(seed)
        self._clock = Clock()
        self._waiting = 0
        self._fronts = Pool(
            self._clock, platform.front.pool, platform.front_scaler(), lambda: self._waiting
        )
        self._workers = Pool(self._clock, platform.worker.pool, platform.worker_scaler())
        results = Results(self._clock, scenario.redis_gib * 0.8 * _GIB)
        self._answers = Answers(self._clock, self._workers, results, profile_of)
        self._sessions = scenario.sessions
        if scenario.is_known:
            self._answers.know(scenario.sessions)
        self.outcome = Outcome()

    def run(self) -> Outcome:
        """Plays it."""
        scenario, outcome = self._scenario, self.outcome
        self._clock.at(self._next_opening(), self._open_and_go_on)
        self._clock.at(self._gap(scenario.attached), self._attach_and_go_on)
        if scenario.spike:
            self._clock.at(scenario.spike.at, self._burst)
        self._clock.run(scenario.warm_days * _DAY)
        self._fronts.account()
        self._workers.account()
        self._fronts.most, self._workers.most = (
            len(pool.instances) for pool in (self._fronts, self._workers)
        )
        self._clock.run(scenario.days * _DAY)
        outcome.days = scenario.days - scenario.warm_days
        outcome.front_seconds = self._fronts.account()
        outcome.worker_seconds = self._workers.account()
        outcome.most_fronts, outcome.most_workers = self._fronts.most, self._workers.most
        outcome.jobs = self._workers.submitted, self._workers.finished
        outcome.counts = self._answers.people
        return outcome

    def _gap(self, daily: float) -> float:
        return self._random.expovariate(daily / _DAY)

    def _next_opening(self) -> float:
        """When the next link is opened: by the hour's rate, by thinning the busiest hour's."""
        busiest = max(HOURS)
        per_second = self._scenario.openings / sum(HOURS) * busiest / _HOUR
        when = self._clock.now
        while True:
            when += self._random.expovariate(per_second)
            if self._random.random() * busiest < HOURS[int(when % _DAY // _HOUR)]:
                return when

    def _open_and_go_on(self) -> None:
        self._clock.at(self._next_opening(), self._open_and_go_on)
        newness = rank_of(self._random.random(), self._sessions)
        self._open(self._sessions - 1 - newness, self._random.random() < costs.NEW_PEOPLE.value)

    def _attach_and_go_on(self) -> None:
        """A new session is converted in advance."""
        self._clock.at(self._clock.now + self._gap(self._scenario.attached), self._attach_and_go_on)
        session = self._sessions
        self._sessions += 1
        for kind in ("overview", "trace"):
            self._answers.give((session, kind, 0), _nothing, is_ahead=True)

    def _burst(self) -> None:
        """Many people, all new, open a session that nobody has opened: the worst case."""
        spike = self._scenario.spike
        assert spike is not None
        session = self._sessions
        self._sessions += 1
        for _ in range(spike.openings):
            when = self._clock.now + self._random.random() * spike.seconds
            self._clock.at(when, lambda: self._open(session, is_new=True))

    def _open(self, session: int, is_new: bool) -> None:
        """Somebody opens a link: the front end works on the page, then the answers are asked for."""
        outcome, clicked = self.outcome, self._clock.now
        outcome.opened += 1
        first = (session, "overview", 0)
        others = self._others(session)
        files = costs.FIRST_FILES if is_new else costs.AGAIN_FILES
        seconds = costs.PAGE_CPU.value + costs.HTML_CPU.value
        seconds += files.value * costs.STATIC_CPU.value + len(others) * costs.ANSWER_CPU.value
        seconds += costs.SMALL_ANSWERS.value * costs.SMALL_CPU.value
        counts = clicked >= self._scenario.warm_days * _DAY
        if counts:
            outcome.sent_bytes += (costs.FIRST_BYTES if is_new else costs.AGAIN_BYTES).value

        def shown(was_there: bool) -> None:
            outcome.answered += 1
            if counts:
                outcome.waits.append(self._clock.now - clicked)
                if not was_there:
                    outcome.miss_waits.append(self._clock.now - clicked)

        def page_is_made() -> None:
            if self._ask(first, lambda: shown(was_there=False)):
                shown(was_there=True)
            for key in others:
                self._ask(key, _nothing)

        self._fronts.submit(Job(seconds, self._random.getrandbits(30), page_is_made))

    def _others(self, session: int) -> list[Key]:
        """What else the same person looks at."""
        visit = draw_visit(self._random, costs.HABITS)
        keys: list[Key] = []
        if visit.has_trace:
            keys.append((session, "trace", 0))
            keys += [(session, "zoom", window) for window in visit.zooms]
        if visit.tool is not None:
            keys.append((session, "tool", visit.tool))
        return keys

    def _ask(self, key: Key, told: Callable[[], None]) -> bool:
        """Asks for an answer; a request that waits for it is in flight in a front end, too."""

        def come() -> None:
            self._waiting -= 1
            self._fronts.submit(Job(costs.RELAY_CPU.value, key[0], told))

        was_there = self._answers.give(key, come)
        if not was_there:
            self._waiting += 1
        return was_there


def _nothing() -> None:
    """Nobody waits for it."""


def profile_of(session: int) -> costs.Profile:
    """The class of a session: the same for the same number, in the classes' shares."""
    return costs.PROFILES[class_of(session, [each.share for each in costs.PROFILES])]


def bill_of(scenario: Scenario, platform: Platform, outcome: Outcome) -> prices.Bill:
    """What a month like the simulated days costs."""
    months = prices.DAYS_OF_MONTH / outcome.days
    compute = sum(
        prices.compute_dollars(platform.is_run, part.cores, part.gib, seconds * months)
        for part, seconds in (
            (platform.front, outcome.front_seconds),
            (platform.worker, outcome.worker_seconds),
        )
    )
    return _bill(scenario, platform, compute, outcome.sent_bytes * months / 1e9)


def idle_bill(scenario: Scenario, platform: Platform) -> prices.Bill:
    """What a month costs in which nobody comes."""
    seconds = prices.DAYS_OF_MONTH * _DAY
    compute = sum(
        prices.compute_dollars(platform.is_run, part.cores, part.gib, part.least * seconds)
        for part in (platform.front, platform.worker)
    )
    return _bill(scenario, platform, compute, 0.0)


def _bill(
    scenario: Scenario, platform: Platform, compute: float, sent_gigabytes: float
) -> prices.Bill:
    kept = scenario.terabytes * 1000 * (1 + costs.ARTIFACT_SHARE.value)
    return prices.Bill(
        compute=compute,
        stores=prices.stores_dollars(
            scenario.redis_gib, scenario.sql_cores, 4 * scenario.sql_cores
        ),
        storage=kept * prices.STORAGE.dollars,
        network=prices.BALANCER.dollars * prices.HOURS_OF_MONTH
        + sent_gigabytes * prices.EGRESS.dollars,
        fixed=0.0 if platform.is_run else prices.CLUSTER.dollars * prices.HOURS_OF_MONTH,
    )
