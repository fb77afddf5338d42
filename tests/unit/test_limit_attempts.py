"""Attempts are counted by network and window, before they are made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from server.limits.attempts import Attempts
from server.limits.windows import MOST_SUBJECTS, Counted, Limit, network_of

GUESSES = Limit("guesses", 20)
HOURLY = Limit("hourly", 3, 3600)


class Clock:
    """A clock that stands until it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_after_the_last_attempt_the_rest_of_the_window_is_waited_for() -> None:
    clock = Clock(600.0)
    attempts, here = Attempts(clock=clock), Counted(GUESSES, "192.0.2.1")
    for _ in range(19):
        attempts.note(here)
    assert attempts.seconds_to_wait(here) == 0
    attempts.note(here)
    assert attempts.seconds_to_wait(here) == 60
    clock.now = 659.0
    assert attempts.seconds_to_wait(here) == 1
    assert attempts.seconds_to_wait(Counted(GUESSES, "192.0.2.2")) == 0
    clock.now = 660.0
    assert attempts.seconds_to_wait(here) == 0


def test_an_attempt_is_taken_from_all_its_counts_or_from_none() -> None:
    attempts = Attempts(clock=Clock(600.0))
    here, everywhere = Counted(GUESSES, "link 192.0.2.1"), Counted(HOURLY, "link")
    assert [attempts.take(here, everywhere) for _ in range(4)] == [0, 0, 0, 3000]
    # The one that was refused counts nowhere: one that is given back may be taken again.
    attempts.give_back(here, everywhere)
    assert attempts.take(here, everywhere) == 0
    assert attempts.take(Counted(GUESSES, "link 192.0.2.2"), everywhere) == 3000


def test_what_was_right_does_not_count() -> None:
    attempts, here = Attempts(clock=Clock(0.0)), Counted(HOURLY, "x")
    for _ in range(10):
        assert attempts.take(here) == 0
        attempts.give_back(here)
    assert attempts.seconds_to_wait(here) == 0


def test_attempts_made_at_once_get_no_further_than_others() -> None:
    attempts, here = Attempts(clock=Clock(600.0)), Counted(GUESSES, "192.0.2.1")
    with ThreadPoolExecutor(16) as threads:
        waits = list(threads.map(lambda _: attempts.take(here), range(200)))
    assert waits.count(0) <= 20
    assert attempts.take(here) == 60 or waits.count(0) < 20


def test_a_limit_of_none_holds_nobody_up() -> None:
    attempts, here = Attempts(clock=Clock(600.0)), Counted(Limit("any", 0), "x")
    assert {attempts.take(here) for _ in range(100)} == {0}


def test_many_addresses_cost_no_more_memory_than_some_and_old_windows_none() -> None:
    clock = Clock(600.0)
    attempts = Attempts(clock=clock)
    for number in range(2 * MOST_SUBJECTS):
        attempts.note(Counted(GUESSES, f"10.0.{number // 256}.{number % 256}"))
    assert MOST_SUBJECTS // 2 < len(attempts._counts) <= MOST_SUBJECTS
    clock.now = 660.0
    attempts.note(Counted(GUESSES, "10.0.0.1"))
    assert len(attempts._counts) == 1


def test_many_addresses_make_no_guess_uncounted() -> None:
    """Whoever has a network of his own fills the counts first, and then guesses from one address."""
    attempts, guessed = Attempts(clock=Clock(600.0)), Counted(HOURLY, "a link")
    for number in range(MOST_SUBJECTS):
        attempts.note(Counted(GUESSES, f"flood {number}"))
    assert [attempts.take(guessed) for _ in range(3)] == [0, 0, 0]
    for number in range(MOST_SUBJECTS):
        attempts.note(Counted(GUESSES, f"another flood {number}"))
    assert attempts.take(guessed) == 3000


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_a_network_is_what_one_customer_has(address: str, network: str) -> None:
    assert network_of(address) == network
