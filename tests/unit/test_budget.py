"""What may be done again or twice is a share of what is done, and pauses grow and differ."""

from __future__ import annotations

import pytest

from loader.budget import Budget
from loader.caches.hedged_reads import Patience
from server.fleet.retries import pause_before


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def spent(budget: Budget) -> int:
    """How often it may be done now, one after the other."""
    count = 0
    while budget.spend():
        count += 1
    return count


def test_there_is_something_at_first_and_then_a_share_of_what_is_done() -> None:
    budget = Budget(share=0.25, each_second=0.0, at_once=10.0, clock=Clock())
    assert spent(budget) == 10
    for _ in range(12):
        budget.earn()
    assert spent(budget) == 3  # 12 / 4
    for _ in range(400):
        budget.earn()
    assert spent(budget) == 10  # not 100: it is not saved up


def test_time_earns_too_and_no_more_than_is_saved_up() -> None:
    clock = Clock()
    budget = Budget(share=0.0, each_second=2.0, at_once=10.0, clock=clock)
    assert spent(budget) == 10
    clock.now += 2.5
    assert spent(budget) == 5
    clock.now += 3600
    assert spent(budget) == 10


def test_pauses_double_up_to_two_seconds_and_are_never_the_same() -> None:
    assert [pause_before(retry, lambda: 1.0) for retry in range(4)] == [0.5, 1.0, 2.0, 2.0]
    assert [pause_before(retry, lambda: 0.0) for retry in range(4)] == [0.25, 0.5, 1.0, 1.0]
    assert len({pause_before(0) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("seconds", "patience"),
    [(0.0002, 0.02), (0.1, 0.1), (10.0, 0.5)],  # the least; as long as it always takes; the most
)
def test_a_read_is_waited_for_about_as_long_as_reads_take(seconds: float, patience: float) -> None:
    held = Patience()
    assert held.seconds == 0.05
    for _ in range(400):
        held.note(seconds)
    assert held.seconds == pytest.approx(patience, rel=0.01)


def test_answers_that_vary_are_given_more_time_than_their_mean() -> None:
    held = Patience()
    for _ in range(200):
        held.note(0.02)
        held.note(0.06)
    # The mean is 40 ms and every answer is about 20 ms off: 40 + 4 * 20.
    assert held.seconds == pytest.approx(0.12, rel=0.1)
