"""Work ahead of time in one worker, and a person who waits for it in another."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from loader.caches.redis_results import connect
from loader.turns.order import Urgency
from tests.redis_workers import until, worker
from tests.service_bench import Bench, StandInEngine, make_bench, read
from tests.services.redis import RedisServer


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[redis.Redis]:
    redis_server.start()
    connection = connect(redis_server.url)
    connection.flushdb()
    yield connection
    connection.close()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@pytest.mark.parametrize("tool", ["hlo_stats", "op_profile"])
def test_what_a_person_waits_for_elsewhere_is_not_given_up(
    bench: Bench, client: redis.Redis, tool: str
) -> None:
    """The same answer, or another that shares its artifact set."""
    engine, other = StandInEngine(gate=threading.Event()), StandInEngine()
    cancelled = threading.Event()
    first, second = worker(bench, client, engine, "first"), worker(bench, client, other, "second")
    with ThreadPoolExecutor(2) as pool:
        ahead = pool.submit(first.get, bench.request(), Urgency.PREWARM, cancelled)
        until(lambda: bool(engine.jobs))
        person = pool.submit(second.get, bench.request(tool))
        until(lambda: bool(client.keys("xprof-hub:wanted:*")))
        time.sleep(3)  # the first worker has renewed its lease
        cancelled.set()
        time.sleep(0.3)
        assert engine.gate is not None
        engine.gate.set()
        assert read(ahead.result(20))[1] == "hlo_stats"
        assert read(person.result(20))[1] == tool
    assert len(engine.jobs) == 1
    assert [job.tool for job in other.jobs] == ([] if tool == "hlo_stats" else [tool])


def test_what_a_person_waits_for_elsewhere_goes_before_other_work_ahead_of_time(
    bench: Bench, client: redis.Redis
) -> None:
    bench.slots = 1
    engine, other = StandInEngine(gate=threading.Event()), StandInEngine()
    first, second = worker(bench, client, engine, "first"), worker(bench, client, other, "second")
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(first.get, bench.request("memory_profile", ("a",)))]
        until(lambda: bool(engine.jobs))
        for tool in ("inference_profile", "memory_profile"):
            waiting.append(pool.submit(first.get, bench.request(tool, ("b",)), Urgency.PREWARM))
            # It has the lease for what it makes before it waits for its turn.
            until(lambda asked=len(waiting): len(client.keys("xprof-hub:lease:*")) == asked)  # type: ignore[misc]
        waiting.append(pool.submit(second.get, bench.request("memory_profile", ("b",))))
        until(lambda: bool(client.keys("xprof-hub:wanted:*")))
        time.sleep(3)
        assert engine.gate is not None
        engine.gate.set()
        for each in waiting:
            each.result(20)
    assert [(job.tool, job.hosts) for job in engine.jobs] == [
        ("memory_profile", ("a",)),
        ("memory_profile", ("b",)),
        ("inference_profile", ("b",)),
    ]
    assert other.jobs == []
