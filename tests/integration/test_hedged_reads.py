"""Slow reads of kept answers are asked a second time: of a replica, or over another connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from loader.caches.redis_results import RedisGuard, RedisResults, connect, hedged_reads
from loader.caches.results import ResultHeader
from tests.services.pair import until
from tests.services.redis import RedisServer, redis_program

BODY = bytes(range(256)) * 4096
"""A MiB: more than the first piece."""
HEADER = ResultHeader("a/b", len(BODY), 7)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RedisServer, RedisServer]]:
    """A Redis and its replica."""
    at_once = ("--repl-diskless-sync-delay", "0")
    first = RedisServer(redis_program(), tmp_path_factory.mktemp("first"), *at_once)
    first.start()
    follow = ("--replicaof", "127.0.0.1", str(first.port))
    replica = RedisServer(redis_program(), tmp_path_factory.mktemp("replica"), *follow)
    replica.start()
    yield first, replica
    replica.stop()
    first.stop()


class Reader:
    """A front end's reads, and what was counted of them."""

    def __init__(self, url: str, replica_url: str = "") -> None:
        self.used: list[str] = []
        self.guard = RedisGuard()
        client = connect(url)
        reads = hedged_reads(client, url, replica_url, self.used.append)
        self.results = RedisResults(client, self.guard, reads)

    def read(self, key: str) -> bytes | None:
        found = self.results.open(key)
        return None if found is None else b"".join(found.pieces)

    def timed(self, key: str) -> tuple[bytes | None, float]:
        began = time.monotonic()
        return self.read(key), time.monotonic() - began


@pytest.fixture
def key(servers: tuple[RedisServer, RedisServer], tmp_path: Path) -> str:
    """An answer that the first Redis and the replica have."""
    first, replica = servers
    first.start()
    made = uuid4().hex * 2
    body = tmp_path / "body"
    body.write_bytes(BODY)
    RedisResults(connect(first.url), RedisGuard()).put(made, HEADER, body, 600)
    reader = RedisResults(connect(replica.url), RedisGuard())
    until(lambda: reader.contains(made), 30)
    return made


def test_reads_that_are_answered_in_time_are_asked_once(
    servers: tuple[RedisServer, RedisServer], key: str
) -> None:
    first, replica = servers
    reader = Reader(first.url, replica.url)
    with connect(replica.url) as client:
        before = client.info("commandstats").get("cmdstat_getrange", {}).get("calls", 0)
        assert [reader.read(key) == BODY for _ in range(50)] == [True] * 50
        after = client.info("commandstats").get("cmdstat_getrange", {}).get("calls", 0)
    # A busy machine may delay some; they are few whatever happens.
    assert len(reader.used) <= 10
    assert after - before == len(reader.used)


def test_a_replica_answers_for_a_redis_that_stands_still(
    servers: tuple[RedisServer, RedisServer], key: str
) -> None:
    first, replica = servers
    reader = Reader(first.url, replica.url)
    assert reader.read(key) == BODY
    with first.standing_still():
        body, seconds = reader.timed(key)
        assert body == BODY
        assert seconds < 1.5  # the first one's own time-out is 2 s
        assert reader.used[:1] == ["second"]
        body, seconds = reader.timed(key)
        assert (body == BODY, reader.results.contains(key)) == (True, True)
        assert seconds < 1.5  # nobody waits for the first one again
    assert reader.guard.failures == 0
    until(lambda: _asks_the_first_again(reader, key), 60)


def _asks_the_first_again(reader: Reader, key: str) -> bool:
    before = len(reader.used)
    return reader.read(key) == BODY and len(reader.used) == before


def test_what_a_lagging_replica_has_not_is_no_miss(
    servers: tuple[RedisServer, RedisServer], tmp_path: Path
) -> None:
    first, replica = servers
    first.start()
    lagging = uuid4().hex * 2
    body = tmp_path / "body"
    body.write_bytes(BODY)
    reader = Reader(first.url, replica.url)
    reader.read(lagging)  # connects
    with connect(replica.url) as client:
        client.replicaof("NO", "ONE")
        try:
            RedisResults(connect(first.url), RedisGuard()).put(lagging, HEADER, body, 600)
            with first.standing_still():
                found: list[bytes | None] = []
                asking = threading.Thread(target=lambda: found.append(reader.read(lagging)))
                asking.start()
                time.sleep(0.6)  # The replica has said that there is nothing.
                assert found == []
            asking.join(20)
        finally:
            client.replicaof("127.0.0.1", str(first.port))
    assert found == [BODY]
    assert reader.used[0] == "first"


def test_a_replica_answers_for_a_redis_that_is_gone(
    servers: tuple[RedisServer, RedisServer], key: str
) -> None:
    first, replica = servers
    reader = Reader(first.url, replica.url)
    first.stop()
    try:
        assert reader.read(key) == BODY
        assert reader.read(uuid4().hex * 2) is None
        assert reader.read(key) == BODY
    finally:
        first.start()
    assert set(reader.used) == {"second"}


class Hole:
    """A way to a server, on which what a connection says next can be lost."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.is_open = threading.Event()
        """While set, a connection that says something is never heard again."""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._port))
            threading.Thread(target=self._carry, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._carry, args=(server, client, False), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if is_client and self.is_open.is_set():
                    self.is_open.clear()
                    while source.recv(1 << 16):
                        pass
                    break
                target.sendall(data)
        except OSError:
            return  # The other direction has closed both.
        finally:
            source.close()
            target.close()


def test_another_connection_answers_for_one_that_is_lost(
    servers: tuple[RedisServer, RedisServer], key: str
) -> None:
    hole = Hole(servers[0].port)
    reader = Reader(f"redis://127.0.0.1:{hole.port}/0")
    assert reader.read(key) == BODY
    hole.is_open.set()
    body, seconds = reader.timed(key)
    assert body == BODY
    assert seconds < 1.5
    assert reader.used.count("second") == 1
    assert reader.read(key) == BODY  # No late answer of the lost one is taken for another's.
    assert reader.guard.failures == 0
    hole.close()


def test_both_silent_is_a_failure_like_any_other(
    servers: tuple[RedisServer, RedisServer], key: str
) -> None:
    first, replica = servers
    reader = Reader(first.url, replica.url)
    assert reader.read(key) == BODY
    with first.standing_still(), replica.standing_still():
        body, seconds = reader.timed(key)
        assert body is None
        assert seconds < 10.0
        assert reader.guard.failures == 1
        assert reader.read(key) is None
        assert reader.guard.failures == 1  # left alone for a moment
    until(lambda: reader.read(key) == BODY, 60)
