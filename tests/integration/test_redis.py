"""Results and leases in a real Redis: whole or absent, one holder, and patience when Redis is gone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
import redis

from loader.redis_leases import LEASE_SECONDS, RedisLeases
from loader.redis_results import RedisGuard, RedisResults, connect
from loader.results import ResultHeader, StoredError
from tests.services.redis import RedisServer


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[redis.Redis]:
    redis_server.start()
    connection = connect(redis_server.url)
    yield connection
    connection.close()


@pytest.fixture
def key() -> str:
    return uuid4().hex * 2


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def read(store: RedisResults, key: str) -> bytes | None:
    found = store.open(key)
    return None if found is None else b"".join(found.pieces)


@pytest.mark.parametrize("size", [0, 1, 200_000, 3_500_000])
def test_a_value_comes_back_whole(client: redis.Redis, tmp_path: Path, key: str, size: int) -> None:
    store = RedisResults(client, RedisGuard())
    content = bytes(range(256)) * (size // 256 + 1)
    body = write(tmp_path / "body", content[:size])
    store.put(key, ResultHeader("a/b", size, 7, ("3 of 4 hosts",)), body, 60)
    assert store.contains(key)
    found = store.open(key)
    assert found is not None
    assert found.header == ResultHeader("a/b", size, 7, ("3 of 4 hosts",))
    assert b"".join(found.pieces) == content[:size]


def test_every_value_has_an_end(client: redis.Redis, tmp_path: Path, key: str) -> None:
    store = RedisResults(client, RedisGuard())
    store.put(key, ResultHeader("a/b", 1, 1), write(tmp_path / "body", b"x"), 60)
    ends = {name: int(str(client.ttl(name))) for name in client.scan_iter("xprof-hub:*")}
    # Redis answers -1 for a key that stays for ever.
    assert all(end >= 0 for end in ends.values())
    assert 50 <= ends[f"xprof-hub:result:{key}".encode()] <= 60


def test_errors_are_kept_too(client: redis.Redis, key: str) -> None:
    store = RedisResults(client, RedisGuard())
    error = StoredError("malformed", "it ends too early", "vm.xplane.pb")
    store.put(key, ResultHeader("application/json", 0, 0, error=error), None, 60)
    found = store.open(key)
    assert found is not None
    assert found.header.error == error


def test_a_damaged_value_counts_as_missing(client: redis.Redis, key: str) -> None:
    store = RedisResults(client, RedisGuard())
    for damaged in (b"x", b"\0\0\0\x02{}", b"\xff\xff\xff\xff" + b"x" * 100, b"\0\0\0\x05[1,2]"):
        client.set(f"xprof-hub:result:{key}", damaged, ex=60)
        assert store.open(key) is None


def test_a_stopped_redis_answers_nothing_and_is_asked_again_later(
    redis_server: RedisServer, tmp_path: Path, key: str
) -> None:
    redis_server.start()
    now = [100.0]
    guard = RedisGuard(pause_seconds=1.0, clock=lambda: now[0])
    store = RedisResults(connect(redis_server.url), guard)
    body = write(tmp_path / "body", b"x")
    redis_server.stop()
    assert store.open(key) is None
    assert guard.failures == 1
    store.put(key, ResultHeader("a/b", 1, 1), body, 60)
    assert not store.contains(key)
    assert guard.failures == 1  # not even asked
    redis_server.start()
    now[0] += 1.1
    store.put(key, ResultHeader("a/b", 1, 1), body, 60)
    assert read(store, key) == b"x"


def test_one_lease_among_workers(client: redis.Redis, key: str) -> None:
    first, second = (RedisLeases(client, RedisGuard()) for _ in range(2))
    lease = first.acquire(key, lambda: False)
    assert lease is not None
    finished: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.acquire, key, lambda: bool(finished))
        time.sleep(LEASE_SECONDS + 1)  # renewed meanwhile
        assert not waiting.done()
        finished.append("by the first")
        assert waiting.result(5) is None
    lease.release()
    again = second.acquire(key, lambda: False)
    assert again is not None
    again.release()


def test_a_dead_holder_is_replaced(client: redis.Redis, key: str) -> None:
    # What a killed worker leaves: a lease that nobody renews.
    client.set(f"xprof-hub:lease:{key}", "a dead worker", px=int(LEASE_SECONDS * 1000))
    start = time.monotonic()
    lease = RedisLeases(client, RedisGuard()).acquire(key, lambda: False)
    assert lease is not None
    assert time.monotonic() - start < 10
    lease.release()


def test_a_lease_of_another_is_never_released(client: redis.Redis, key: str) -> None:
    lease = RedisLeases(client, RedisGuard()).acquire(key, lambda: False)
    assert lease is not None
    client.set(f"xprof-hub:lease:{key}", "somebody else", px=5000)
    lease.release()
    assert client.get(f"xprof-hub:lease:{key}") == b"somebody else"


def test_without_redis_a_lease_holds_in_this_process(redis_server: RedisServer, key: str) -> None:
    redis_server.stop()
    try:
        leases = RedisLeases(connect(redis_server.url), RedisGuard())
        lease = leases.acquire(key, lambda: False)
        assert lease is not None
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(leases.acquire, key, lambda: True)
            time.sleep(0.3)
            assert not waiting.done()
            lease.release()
            assert waiting.result(20) is None
    finally:
        redis_server.start()
