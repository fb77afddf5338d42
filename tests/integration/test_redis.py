"""Results and progress in a real Redis: whole or absent, and patience when Redis is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import redis

from loader.caches.redis_results import RedisGuard, RedisResults, connect
from loader.caches.results import ResultHeader, StoredError
from loader.coordination.progress import ENTRY_SECONDS, Phase, Progress
from loader.coordination.redis_progress import RedisProgress
from loader.errors import ErrorCode, LoaderError
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
    # Redis answers -1 for a key that stays for ever, and -2 for one that has ended meanwhile.
    assert -1 not in ends.values()
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


FAILURE = ResultHeader("application/json", 0, 0, error=StoredError("timed_out", "too long", None))


def test_an_answer_takes_the_place_of_a_failure(
    client: redis.Redis, tmp_path: Path, key: str
) -> None:
    store = RedisResults(client, RedisGuard())
    store.put(key, FAILURE, None, 30)
    store.put(key, ResultHeader("a/b", 1, 1), write(tmp_path / "body", b"x"), 600)
    assert read(store, key) == b"x"
    assert int(str(client.ttl(f"xprof-hub:result:{key}"))) > 30


def test_a_failure_never_takes_the_place_of_an_answer(
    client: redis.Redis, tmp_path: Path, key: str
) -> None:
    store = RedisResults(client, RedisGuard())
    store.put(key, ResultHeader("a/b", 1, 1), write(tmp_path / "body", b"x"), 600)
    store.put(key, FAILURE, None, 30)
    assert read(store, key) == b"x"
    assert int(str(client.ttl(f"xprof-hub:result:{key}"))) > 30
    assert list(client.scan_iter("xprof-hub:result:draft:*")) == []


def test_progress_is_seen_by_all_and_ends_by_itself(client: redis.Redis, key: str) -> None:
    board, reader = (RedisProgress(client, RedisGuard()) for _ in range(2))
    progress = Progress(Phase.CONVERT, 1000.5, 0, 3, 4)
    board.post(key, progress)
    assert reader.read(key) == progress
    assert 0 < int(str(client.pttl(f"xprof-hub:progress:{key}"))) <= ENTRY_SECONDS * 1000
    board.clear(key)
    assert reader.read(key) is None
    client.set(f"xprof-hub:progress:{key}", b"{}", ex=5)
    assert reader.read(key) is None


def test_without_redis_there_is_no_progress(redis_server: RedisServer, key: str) -> None:
    redis_server.stop()
    try:
        board = RedisProgress(connect(redis_server.url), RedisGuard())
        board.post(key, Progress(Phase.CONVERT, 1.0))
        assert board.read(key) is None
        board.clear(key)
    finally:
        redis_server.start()


def test_answers_of_a_session_are_forgotten_and_others_stay(
    client: redis.Redis, tmp_path: Path
) -> None:
    store = RedisResults(client, RedisGuard())
    mark, other = uuid4().hex[:16], uuid4().hex * 2
    mine = [f"{mark}{number:048}" for number in range(1500)]
    body = write(tmp_path / "body", b"x")
    for key in (*mine, other):
        store.put(key, ResultHeader("a/b", 1, 1), body, 60)
    assert store.forget([mark, uuid4().hex[:16]]) == len(mine)
    assert not any(store.contains(key) for key in mine[::100])
    assert store.contains(other)


def test_a_redis_that_is_gone_says_that_answers_are_left(redis_server: RedisServer) -> None:
    redis_server.stop()
    store = RedisResults(connect(redis_server.url), RedisGuard())
    with pytest.raises(LoaderError) as failure:
        store.forget(["ab" * 8])
    assert failure.value.code is ErrorCode.STORAGE_UNAVAILABLE
    redis_server.start()
