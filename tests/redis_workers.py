"""Services of workers that share results and leases in a real Redis, to test what they do to each other."""

from __future__ import annotations

import time
from collections.abc import Callable

import redis

from loader.caches.redis_results import RedisGuard, RedisResults
from loader.coordination.redis_leases import RedisLeases
from loader.service import ToolDataService
from tests.service_bench import Bench, StandInEngine


def worker(bench: Bench, client: redis.Redis, engine: StandInEngine, name: str) -> ToolDataService:
    """The service of one worker; `name` is that of its scratch."""
    guard = RedisGuard()
    results = RedisResults(client, guard)
    return bench.service(engine, RedisLeases(client, guard), results, scratch=name)


def until(true: Callable[[], bool]) -> None:
    """Waits for something to become true."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)
