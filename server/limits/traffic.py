"""How many requests come, counted beside them: none waits for Redis, and none fails with it.

A front end counts what it sees itself, and tells and asks Redis once a second, for all counts in one round
trip. So front ends together let through a second's requests more than the limit, and never fewer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import redis

from loader.caches.redis_results import RedisGuard
from server.limits.windows import MOST_SUBJECTS, Counted

EXCHANGE_SECONDS = 1.0
"""Between two exchanges with Redis."""


@dataclass
class _Count:
    """How often something came.

    Attributes:
        end: of its window, in seconds since 1970.
        seconds: length of the window.
        own: at this front end.
        told: how much of that Redis knows.
        others: at the other front ends, as far as known.
    """

    end: float
    seconds: int
    own: int = 0
    told: int = 0
    others: int = 0

    @property
    def total(self) -> int:
        """At all front ends."""
        return self.own + self.others


class Traffic:
    """Counts requests; may be used from several threads."""

    def __init__(
        self, client: redis.Redis | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._redis = client
        self._guard = RedisGuard()
        self._clock = clock
        self._lock = threading.Lock()
        self._exchanging = threading.Lock()
        self._counts: dict[str, _Count] = {}
        self._thread = ThreadPoolExecutor(1, "limits")
        self._running: Future[None] | None = None
        self._next_exchange = 0.0
        self._next_look = 0.0

    def count(self, *counted: Counted) -> int:
        """Counts a request for each; the seconds after which it may come again, 0 when it may now."""
        now = self._clock()
        with self._lock:
            self._forget(now)
            wait = max((self._add(one, now, 1) for one in counted), default=0)
        self._exchange_if_due(now)
        return wait

    def seconds_to_wait(self, *counted: Counted) -> int:
        """How long no further one may come; 0 when one may. Counts nothing."""
        now = self._clock()
        with self._lock:
            self._forget(now)
            return max((self._add(one, now, 0) for one in counted), default=0)

    def exchange(self) -> None:
        """Tells Redis what came here, and learns what came elsewhere. Blocks on Redis."""
        if self._redis is None or self._guard.is_paused:
            return
        with self._exchanging:
            news = self._news()
            if not news:
                return
            try:
                totals = self._tell(self._redis, news)
            except redis.RedisError as problem:
                self._guard.record(problem)
                return
            with self._lock:
                for (count, own), total in zip(news.values(), totals, strict=True):
                    count.told, count.others = own, max(0, total - own)

    def close(self) -> None:
        """Ends the exchange; what was not told yet is not told any more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _news(self) -> dict[str, tuple[_Count, int]]:
        """What Redis does not know yet: counts, and how much of each came here."""
        with self._lock:
            counts = self._counts.items()
            return {key: (count, count.own) for key, count in counts if count.own > count.told}

    @staticmethod
    def _tell(client: redis.Redis, news: dict[str, tuple[_Count, int]]) -> list[int]:
        """Adds to the counts in Redis; what they are then."""
        with client.pipeline() as pipeline:
            for key, (count, own) in news.items():
                pipeline.incrby(key, own - count.told)
            for key, (count, _) in news.items():
                pipeline.expire(key, 2 * count.seconds)
            return [int(total) for total in pipeline.execute()[: len(news)]]

    def _add(self, one: Counted, now: float, number: int) -> int:
        if not one.limit.most:
            return 0
        key = one.key(now)
        count = self._counts.get(key)
        if count is None:
            if not number or len(self._counts) >= MOST_SUBJECTS:
                return 0
            left = one.limit.seconds_left(now)
            count = self._counts[key] = _Count(now + left, one.limit.seconds)
        count.own += number
        is_over = count.total >= one.limit.most + (1 if number else 0)
        return one.limit.seconds_left(now) if is_over else 0

    def _forget(self, now: float) -> None:
        if now < self._next_look:
            return
        self._counts = {key: count for key, count in self._counts.items() if now < count.end}
        self._next_look = min((count.end for count in self._counts.values()), default=now + 1)

    def _exchange_if_due(self, now: float) -> None:
        is_busy = self._running is not None and not self._running.done()
        if self._redis is None or is_busy or now < self._next_exchange:
            return
        self._next_exchange = now + EXCHANGE_SECONDS
        self._running = self._thread.submit(self.exchange)
