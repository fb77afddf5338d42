"""How many wrong tokens came from an address within a minute, over all front ends if they have a Redis.

Nobody guesses a token of 256 random bits. The limit keeps those who try from costing database look-ups, and
their noise out of the figures.
"""

from __future__ import annotations

import hashlib
import ipaddress
import threading
import time
from collections.abc import Callable
from typing import cast

import redis

from loader.redis_results import RedisGuard

MOST_GUESSES = 20
"""Wrong tokens of one address within a minute of the clock."""
_SECONDS = 60
_MOST_ADDRESSES = 10_000
_OTHERS = ""


class SignInGuesses:
    """Counts in this process, and in Redis where that answers; the greater number counts."""

    def __init__(
        self,
        client: redis.Redis | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._redis = client
        self._guard = RedisGuard()
        self._clock = clock
        self._lock = threading.Lock()
        self._minute = 0
        self._counts: dict[str, int] = {}

    def seconds_to_wait(self, address: str) -> int:
        """How long this address may not try again; 0 when it may. Asks Redis."""
        network, now = network_of(address), self._clock()
        with self._lock:
            self._turn_to(now)
            local = self._counts.get(network, 0)
        if max(local, self._shared(network, now)) < MOST_GUESSES:
            return 0
        return _SECONDS - int(now) % _SECONDS

    def note(self, address: str) -> None:
        """Counts a wrong token. Tells Redis."""
        network, now = network_of(address), self._clock()
        with self._lock:
            self._turn_to(now)
            is_known = network in self._counts or len(self._counts) < _MOST_ADDRESSES
            counted = network if is_known else _OTHERS
            self._counts[counted] = self._counts.get(counted, 0) + 1
        self._tell(network, now)

    def _turn_to(self, now: float) -> None:
        minute = int(now) // _SECONDS
        if minute != self._minute:
            self._minute = minute
            self._counts.clear()

    def _shared(self, network: str, now: float) -> int:
        if self._redis is None or self._guard.is_paused:
            return 0
        try:
            found = cast("bytes | None", self._redis.get(_key(network, now)))
        except redis.RedisError as problem:
            self._guard.record(problem)
            return 0
        return int(found or 0)

    def _tell(self, network: str, now: float) -> None:
        if self._redis is None or self._guard.is_paused:
            return
        key = _key(network, now)
        try:
            with self._redis.pipeline() as pipeline:
                pipeline.incr(key)
                pipeline.expire(key, 2 * _SECONDS)
                pipeline.execute()
        except redis.RedisError as problem:
            self._guard.record(problem)


def network_of(address: str) -> str:
    """What one customer of a provider has: an IPv4 address, or the first half of an IPv6 one."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((int(parsed), 64), strict=False))


def _key(network: str, now: float) -> str:
    digest = hashlib.sha256(network.encode()).hexdigest()[:32]
    return f"xprof-hub:sign-in:{int(now) // _SECONDS}:{digest}"
