"""Leases in a real Redis: one holder, a dead one replaced, and a slow one that finds out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
import redis

from loader.caches.redis_results import RedisGuard, connect
from loader.coordination.redis_leases import LEASE_SECONDS, RedisLeases
from loader.errors import ErrorCode, LoaderError
from tests.services.pair import until
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


def leases(client: redis.Redis) -> RedisLeases:
    """Those of another worker each time."""
    return RedisLeases(client, RedisGuard())


def test_one_lease_among_workers(client: redis.Redis, key: str) -> None:
    first, second = (leases(client) for _ in range(2))
    lease = first.acquire(key, lambda: False)
    assert lease is not None
    finished: list[str] = []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(second.acquire, key, lambda: bool(finished))
        time.sleep(LEASE_SECONDS + 1)  # renewed meanwhile
        assert not waiting.done()
        finished.append("by the first")
        assert waiting.result(20) is None
    lease.release()
    again = second.acquire(key, lambda: False)
    assert again is not None
    again.release()


def test_a_dead_holder_is_replaced(client: redis.Redis, key: str) -> None:
    # What a killed worker leaves: a lease that nobody renews.
    client.set(f"xprof-hub:lease:{key}", "a dead worker", px=int(LEASE_SECONDS * 1000))
    start = time.monotonic()
    lease = leases(client).acquire(key, lambda: False)
    assert lease is not None
    assert time.monotonic() - start < 5 * LEASE_SECONDS
    lease.release()


def test_a_replica_that_missed_the_last_token_takes_no_lease_away(
    client: redis.Redis, key: str
) -> None:
    """Redis copies to its replicas late: what takes over may know the token before this one only."""
    lease = leases(client).acquire(key, lambda: False)
    assert lease is not None
    client.set(f"xprof-hub:fence:{key}", lease.token - 1)
    client.delete(f"xprof-hub:lease:{key}")
    assert lease.confirm()
    client.set(f"xprof-hub:fence:{key}", lease.token + 1)
    assert not lease.confirm()
    lease.release()


def test_a_holder_learns_that_a_person_waits_elsewhere(client: redis.Redis, key: str) -> None:
    lease = leases(client).acquire(key, lambda: False)
    assert lease is not None
    leases(client).want(key[::-1])
    assert lease.confirm()
    assert not lease.is_wanted
    leases(client).want(key)
    until(lambda: lease.is_wanted)  # it asks by itself
    lease.release()
    assert 0 < client.pttl(f"xprof-hub:wanted:{key}") <= LEASE_SECONDS * 1000


def test_a_lease_of_another_is_never_released(client: redis.Redis, key: str) -> None:
    lease = leases(client).acquire(key, lambda: False)
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


def test_each_lease_has_a_larger_token(client: redis.Redis, key: str) -> None:
    tokens = []
    for _ in range(3):
        lease = leases(client).acquire(key, lambda: False)
        assert lease is not None
        tokens.append(lease.token)
        lease.release()
    client.flushdb()  # Redis may lose everything
    lease = leases(client).acquire(key, lambda: False)
    assert lease is not None
    tokens.append(lease.token)
    lease.release()
    assert tokens == sorted(set(tokens))


def test_a_slow_holder_finds_out_that_another_has_taken_over(client: redis.Redis, key: str) -> None:
    slow = leases(client).acquire(key, lambda: False)
    assert slow is not None
    client.delete(f"xprof-hub:lease:{key}")  # it did not renew in time
    fast = leases(client).acquire(key, lambda: False)
    assert fast is not None
    assert fast.token > slow.token
    until(lambda: slow.is_lost)
    assert (slow.confirm(), fast.confirm(), fast.is_lost) == (False, True, False)
    slow.release()
    assert fast.confirm()  # the slow one's end is not the other's
    fast.release()


def test_a_slow_holder_finds_out_also_when_the_other_is_done(client: redis.Redis, key: str) -> None:
    slow = leases(client).acquire(key, lambda: False)
    assert slow is not None
    client.delete(f"xprof-hub:lease:{key}")
    fast = leases(client).acquire(key, lambda: False)
    assert fast is not None
    fast.release()
    assert not slow.confirm()
    slow.release()


def test_a_slow_holder_goes_on_when_nobody_has_taken_over(client: redis.Redis, key: str) -> None:
    slow = leases(client).acquire(key, lambda: False)
    assert slow is not None
    client.delete(f"xprof-hub:lease:{key}")
    assert slow.confirm()
    assert not slow.is_lost
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(leases(client).acquire, key, lambda: False)
        time.sleep(0.3)
        assert not waiting.done()  # it is the slow one's again
        slow.release()
        lease = waiting.result(20)
    assert lease is not None
    lease.release()


def test_waiting_for_another_worker_ends_when_told_to(client: redis.Redis, key: str) -> None:
    held = leases(client).acquire(key, lambda: False)
    assert held is not None

    def give_up() -> None:
        raise LoaderError(ErrorCode.BUSY, "stopping")

    other = leases(client)
    for _ in range(2):  # the second time nothing of the first is left in this process
        with pytest.raises(LoaderError, match="stopping"):
            other.acquire(key, lambda: False, give_up)
    held.release()
