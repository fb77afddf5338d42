"""Wrong tokens are counted by network and minute."""

from __future__ import annotations

import pytest

from server.sign_in_guesses import MOST_GUESSES, SignInGuesses, network_of


class Clock:
    """A clock that stands until it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_after_the_last_guess_the_rest_of_the_minute_is_waited_for() -> None:
    clock = Clock(600.0)
    guesses = SignInGuesses(clock=clock)
    for _ in range(MOST_GUESSES - 1):
        guesses.note("192.0.2.1")
    assert guesses.seconds_to_wait("192.0.2.1") == 0
    guesses.note("192.0.2.1")
    assert guesses.seconds_to_wait("192.0.2.1") == 60
    clock.now = 659.0
    assert guesses.seconds_to_wait("192.0.2.1") == 1
    assert guesses.seconds_to_wait("192.0.2.2") == 0
    clock.now = 660.0
    assert guesses.seconds_to_wait("192.0.2.1") == 0


def test_many_addresses_cost_no_more_memory_than_some() -> None:
    guesses = SignInGuesses(clock=Clock(600.0))
    for number in range(20_000):
        guesses.note(f"10.0.{number // 256}.{number % 256}")
    assert len(guesses._counts) <= 10_001


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
