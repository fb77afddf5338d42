"""Front ends count wrong tokens together, and each by itself while Redis is away."""

from __future__ import annotations

import redis

from server.sign_in_guesses import MOST_GUESSES, SignInGuesses
from tests.services.redis import RedisServer

ADDRESS = "192.0.2.1"


def test_guesses_at_one_front_end_count_at_the_other(redis_server: RedisServer) -> None:
    client = redis.Redis.from_url(redis_server.url)
    one, other = (SignInGuesses(client, lambda: 600.0) for _ in range(2))
    for _ in range(MOST_GUESSES):
        one.note(ADDRESS)
    assert other.seconds_to_wait(ADDRESS) == 60
    assert other.seconds_to_wait("192.0.2.2") == 0
    (key,) = client.scan_iter("xprof-hub:sign-in:*")
    assert b"192" not in key
    assert 0 < int(str(client.ttl(key))) <= 120


def test_without_redis_each_counts_by_itself() -> None:
    client = redis.Redis(host="127.0.0.1", port=1, socket_connect_timeout=0.2)
    guesses = SignInGuesses(client, lambda: 600.0)
    for _ in range(MOST_GUESSES):
        guesses.note(ADDRESS)
    assert guesses.seconds_to_wait(ADDRESS) == 60
