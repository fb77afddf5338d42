"""How long a Redis that failed is left alone."""

from __future__ import annotations

import redis

from loader.caches.redis_results import RedisGuard


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def pauses(problems: list[redis.RedisError], seconds_between: float = 0.1) -> list[float]:
    """How long each of these failures, each found out when the last pause is over, has it left alone."""
    clock = Clock()
    guard = RedisGuard(pause_seconds=1.0, clock=clock)
    lengths = []
    for problem in problems:
        guard.record(problem)
        began = clock.now
        while guard.is_paused:
            clock.now += 0.25
        lengths.append(clock.now - began)
        clock.now += seconds_between
    return lengths


def test_one_that_stands_still_is_asked_less_and_less() -> None:
    assert pauses([redis.TimeoutError()] * 6) == [1, 2, 4, 8, 8, 8]


def test_one_that_refuses_is_asked_again_each_second() -> None:
    assert pauses([redis.ConnectionError()] * 3) == [1, 1, 1]


def test_one_that_has_answered_for_a_while_begins_anew() -> None:
    assert pauses([redis.TimeoutError()] * 3, seconds_between=11) == [1, 1, 1]


def test_those_who_find_out_at_the_same_time_count_once() -> None:
    clock = Clock()
    guard = RedisGuard(pause_seconds=1.0, clock=clock)
    for _ in range(50):
        guard.record(redis.TimeoutError())
    clock.now += 1.25
    assert not guard.is_paused
    assert guard.failures == 50
