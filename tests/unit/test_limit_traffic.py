"""Requests are counted beside them, by window."""

from __future__ import annotations

from server.limits.traffic import Traffic
from server.limits.windows import MOST_SUBJECTS, Counted, Limit

FEW = Limit("few", 3)
HERE = Counted(FEW, "192.0.2.1")


class Clock:
    """A clock that stands until it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_what_is_over_the_limit_waits_for_the_next_window() -> None:
    clock = Clock(600.0)
    traffic = Traffic(clock=clock)
    assert [traffic.count(HERE) for _ in range(5)] == [0, 0, 0, 60, 60]
    assert traffic.count(Counted(FEW, "192.0.2.2")) == 0
    clock.now = 645.5
    assert traffic.count(HERE) == 15
    clock.now = 660.0
    assert [traffic.count(HERE) for _ in range(4)] == [0, 0, 0, 60]


def test_looking_counts_nothing_and_says_whether_one_more_may_come() -> None:
    traffic = Traffic(clock=Clock(600.0))
    for _ in range(5):
        assert traffic.seconds_to_wait(HERE) == 0
    for _ in range(2):
        traffic.count(HERE)
    assert traffic.seconds_to_wait(HERE) == 0
    traffic.count(HERE)
    assert traffic.seconds_to_wait(HERE) == 60


def test_the_longest_wait_of_all_counts() -> None:
    traffic = Traffic(clock=Clock(600.0))
    hourly = Counted(Limit("hourly", 1, 3600), "x")
    assert traffic.count(HERE, hourly) == 0
    assert traffic.count(HERE, hourly) == 3000


def test_a_limit_of_none_is_not_counted() -> None:
    traffic = Traffic(clock=Clock(600.0))
    assert {traffic.count(Counted(Limit("any", 0), "x")) for _ in range(50)} == {0}
    assert traffic._counts == {}


def test_many_subjects_cost_no_more_memory_than_some_and_old_windows_none() -> None:
    clock = Clock(600.0)
    traffic = Traffic(clock=clock)
    for number in range(2 * MOST_SUBJECTS):
        traffic.count(Counted(FEW, str(number)))
    assert len(traffic._counts) == MOST_SUBJECTS
    clock.now = 660.0
    traffic.count(HERE)
    assert len(traffic._counts) == 1
