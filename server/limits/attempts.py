"""Attempts that are counted one by one before they are made: tokens, passwords, codes.

Nobody guesses a token of 256 random bits; there the limit keeps those who try from costing database look-ups.
A password that people choose can be guessed: what protects it is that few attempts are made.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import redis

from loader.caches.redis_results import RedisGuard
from server.limits.windows import MOST_SUBJECTS, Counted


class Attempts:
    """Counts in this process, and in Redis where that answers; the greater number counts."""

    def __init__(
        self, client: redis.Redis | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._redis = client
        self._guard = RedisGuard()
        self._clock = clock
        self._lock = threading.Lock()
        self._ends = 0.0
        self._counts: dict[str, tuple[float, int]] = {}
        """By key: the end of its window, and how often."""

    def take(self, *counted: Counted) -> int:
        """Counts an attempt for each, if each has one left, before it is made.

        So of attempts that are made at once no more go through than of those made one after the other.

        Returns:
            0 when it may be made; else the seconds after which it may, and nothing was counted.
        """
        now = self._clock()
        wait = _wait(counted, self._add(counted, now, 1), now)
        if wait:
            self._add(counted, now, -1)
        return wait

    def give_back(self, *counted: Counted) -> None:
        """Takes an attempt back that was none: it was right."""
        self._add(counted, self._clock(), -1)

    def note(self, *counted: Counted) -> None:
        """Counts an attempt that was made."""
        self._add(counted, self._clock(), 1)

    def seconds_to_wait(self, *counted: Counted) -> int:
        """How long no attempt may be made; 0 when one may. Counts nothing."""
        now = self._clock()
        return _wait(counted, [count + 1 for count in self._add(counted, now, 0)], now)

    def _add(self, counted: tuple[Counted, ...], now: float, number: int) -> list[int]:
        """Adds to each count; what they are then."""
        local = [self._add_here(one, now, number) for one in counted]
        shared = self._add_there(counted, now, number)
        return [max(pair) for pair in zip(local, shared, strict=True)] if shared else local

    def _add_here(self, one: Counted, now: float, number: int) -> int:
        key, end = one.key(now), now + one.limit.seconds_left(now)
        with self._lock:
            self._forget(now)
            _, count = self._counts.get(key, (end, 0))
            count = max(0, count + number)
            if number > 0 and key not in self._counts:
                self._make_room()
            if number > 0 or key in self._counts:
                self._counts[key] = (end, count)
            return count

    def _make_room(self) -> None:
        """Drops what was counted least, if there is no room: many addresses make no guess uncounted."""
        if len(self._counts) < MOST_SUBJECTS:
            return
        least = sorted(self._counts, key=lambda key: (self._counts[key][1], self._counts[key][0]))
        for key in least[: MOST_SUBJECTS // 10]:
            del self._counts[key]

    def _forget(self, now: float) -> None:
        """Drops windows that are over; looks only when one may be."""
        if now < self._ends:
            return
        self._counts = {key: kept for key, kept in self._counts.items() if now < kept[0]}
        self._ends = min((end for end, _ in self._counts.values()), default=now + 1)

    def _add_there(self, counted: tuple[Counted, ...], now: float, number: int) -> list[int]:
        if self._redis is None or self._guard.is_paused:
            return []
        try:
            with self._redis.pipeline() as pipeline:
                for one in counted:
                    pipeline.incrby(one.key(now), number)
                for one in counted:
                    pipeline.expire(one.key(now), 2 * one.limit.seconds)
                return [int(count) for count in pipeline.execute()[: len(counted)]]
        except redis.RedisError as problem:
            self._guard.record(problem)
            return []


def _wait(counted: tuple[Counted, ...], counts: list[int], now: float) -> int:
    over = [
        one.limit.seconds_left(now)
        for one, count in zip(counted, counts, strict=True)
        if one.limit.most and count > one.limit.most
    ]
    return max(over, default=0)
