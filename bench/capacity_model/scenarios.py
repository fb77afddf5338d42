"""What is simulated: how many openings a day, of how many sessions, on which platform."""

from __future__ import annotations

from dataclasses import dataclass

from bench.capacity_model import costs
from bench.capacity_model.pool import PoolSpec
from bench.capacity_model.scaling import CloudRun, HorizontalPods, Scaler

HOURS = (1, 1, 1, 1, 1, 2, 3, 5, 8, 10, 10, 8, 7, 9, 10, 10, 8, 6, 4, 3, 2, 2, 1, 1)
"""How the openings of a day spread over its hours: a team in one time zone; assumed."""


@dataclass(frozen=True)
class Spike:
    """One link that many open at once.

    Attributes:
        at: seconds since the start.
        openings: how many.
        seconds: within which.
    """

    at: float
    openings: int
    seconds: float


@dataclass(frozen=True)
class Scenario:
    """What people do, and how much there is.

    Attributes:
        name: in words.
        openings: of links, a day.
        attached: new sessions a day, converted in advance.
        sessions: that there are at the start.
        terabytes: of all profiles.
        is_known: whether those at the start have been converted once; an imported archive has not.
        days: that are simulated.
        warm_days: of these, not counted.
        redis_gib: of the cache.
        sql_cores: of the database; four times as much memory in GiB.
        spike: of openings, or None.
    """

    name: str
    openings: float
    attached: float
    sessions: int
    terabytes: float
    is_known: bool
    days: float
    warm_days: float
    redis_gib: float
    sql_cores: int
    spike: Spike | None = None


_MEAN_TERABYTES = sum(one.share * one.megabytes for one in costs.PROFILES) / 1e6


def _terabytes(sessions: int) -> float:
    return sessions * _MEAN_TERABYTES


_ARCHIVE = round(10 / _MEAN_TERABYTES)
SCENARIOS = (
    Scenario("10 openings a day", 10, 2, 200, _terabytes(200), True, 9, 2, 1, 1),
    Scenario("1,000 openings a day", 1_000, 50, 5_000, _terabytes(5_000), True, 5, 2, 5, 1),
    Scenario(
        "100,000 openings a day",
        100_000,
        2_000,
        100_000,
        _terabytes(100_000),
        True,
        1.25,
        0.25,
        32,
        4,
    ),
    Scenario(
        "a talk: 5,000 open one new link in a minute",
        1_000,
        50,
        5_000,
        _terabytes(5_000),
        True,
        1,
        0.5,
        5,
        1,
        Spike(0.6 * 86_400, 5_000, 60),
    ),
    Scenario("10 TB imported, 1,000 openings a day", 1_000, 50, _ARCHIVE, 10, False, 5, 2, 5, 2),
)


@dataclass(frozen=True)
class Part:
    """Front ends or workers on one platform.

    Attributes:
        pool: what an instance is.
        cores: that are paid.
        gib: that are paid.
        least: instances that are always there.
    """

    pool: PoolSpec
    cores: float
    gib: float
    least: int


@dataclass(frozen=True)
class Platform:
    """Where it runs.

    Attributes:
        name: in words.
        is_run: whether it is Cloud Run.
        front: front ends.
        worker: workers.
    """

    name: str
    is_run: bool
    front: Part
    worker: Part

    def front_scaler(self) -> Scaler:
        """Rules of the front ends; new for each simulation, as it remembers."""
        if self.is_run:
            return CloudRun(concurrency=80, slots=1, least=self.front.least, most=20)
        return HorizontalPods(40, 0.6, self.front.least, 20, down_window=300, down_pods=10)

    def worker_scaler(self) -> Scaler:
        """Rules of the workers."""
        slots = self.worker.pool.slots
        if self.is_run:
            return CloudRun(concurrency=slots, slots=slots, least=self.worker.least, most=20)
        return HorizontalPods(1.5, 1.5, self.worker.least, 20, down_window=600, down_pods=1)


PLATFORMS = (
    Platform(
        "Cloud Run",
        True,
        Part(PoolSpec(1, costs.FRONT_START.value, is_hashed=False), 1, 1, 1),
        Part(PoolSpec(2, costs.WORKER_START.value, is_hashed=False), 2, 12, 0),
    ),
    Platform(
        "Kubernetes",
        False,
        Part(PoolSpec(1, costs.POD_START.value, is_hashed=True), 0.5, 0.5, 2),
        Part(PoolSpec(2, costs.POD_START.value, is_hashed=True), 2, 12, 1),
    ),
)
"""Limits and targets are those of deploy/kubernetes/; a test compares them."""
