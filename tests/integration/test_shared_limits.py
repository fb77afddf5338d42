"""Front ends count together, and each by itself while Redis is away."""

from __future__ import annotations

import redis

from loader.caches.redis_results import connect
from server.limits.attempts import Attempts
from server.limits.traffic import Traffic
from server.limits.windows import Counted, Limit
from tests.services.pair import until
from tests.services.redis import RedisServer

GUESSES = Limit("guesses-of-this-test", 20)
REQUESTS = Limit("requests-of-this-test", 10)
ADDRESS = "192.0.2.1"


def noon() -> float:
    return 600.0


def away() -> redis.Redis:
    return connect("redis://127.0.0.1:1/0")


def test_attempts_at_one_front_end_count_at_the_other(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url)
    one, other = (Attempts(client, noon) for _ in range(2))
    for _ in range(10):
        assert one.take(Counted(GUESSES, ADDRESS)) == 0
        assert other.take(Counted(GUESSES, ADDRESS)) == 0
    assert other.seconds_to_wait(Counted(GUESSES, ADDRESS)) == 60
    assert one.take(Counted(GUESSES, ADDRESS)) == 60
    assert other.seconds_to_wait(Counted(GUESSES, "192.0.2.2")) == 0
    other.give_back(Counted(GUESSES, ADDRESS))
    assert one.take(Counted(GUESSES, ADDRESS)) == 0
    (key, *_) = client.scan_iter("xprof-hub:limit:guesses-of-this-test:*")
    assert b"192" not in key
    assert 0 < int(str(client.ttl(key))) <= 120


def test_requests_at_one_front_end_count_at_the_other_after_an_exchange(
    redis_server: RedisServer,
) -> None:
    client, here = redis.Redis.from_url(redis_server.url), Counted(REQUESTS, ADDRESS)
    one, other = (Traffic(client, noon) for _ in range(2))
    for _ in range(6):
        assert one.count(here) == 0
    one.exchange()
    assert other.count(here) == 0
    other.exchange()
    # Six there, and now three here: the tenth may come, the eleventh not.
    assert [other.count(here) for _ in range(4)] == [0, 0, 0, 60]
    other.exchange()
    one.count(here)
    one.exchange()
    assert one.seconds_to_wait(here) == 60
    one.close()
    other.close()


def test_the_first_request_begins_an_exchange_and_waits_for_none(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url)
    limit = Limit("begun-by-itself", 10)
    traffic = Traffic(client, noon)
    traffic.count(Counted(limit, ADDRESS))
    key = Counted(limit, ADDRESS).key(noon())
    until(lambda: client.get(key) is not None)
    assert client.get(key) == b"1"
    traffic.close()


def test_without_redis_each_counts_by_itself() -> None:
    attempts, traffic = Attempts(away(), noon), Traffic(away(), noon)
    for _ in range(20):
        attempts.note(Counted(GUESSES, ADDRESS))
    assert attempts.seconds_to_wait(Counted(GUESSES, ADDRESS)) == 60
    for _ in range(10):
        traffic.count(Counted(REQUESTS, ADDRESS))
    traffic.exchange()
    assert traffic.seconds_to_wait(Counted(REQUESTS, ADDRESS)) == 60
    traffic.close()
