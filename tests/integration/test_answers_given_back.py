"""Redis that comes back empty is filled again by workers that still have the answers."""

from __future__ import annotations

from pathlib import Path

import redis

from loader.caches.redis_results import connect
from tests.services.cluster import Cluster, conversions, get
from tests.services.pair import until
from tests.services.redis import RedisServer


def kept_answers(client: redis.Redis) -> set[bytes]:
    """Names of the answers in Redis, without those that are still being written."""
    return {name for name in client.scan_iter("xprof-hub:result:*") if b":draft:" not in name}


def test_an_answer_that_redis_lost_is_there_again_without_its_worker(
    cluster: Cluster, small_session: Path, redis_server: RedisServer
) -> None:
    worker = cluster.worker()
    front = cluster.front(worker, XPROF_HUB_PREWARM="false")
    base = cluster.share(front, cluster.upload(small_session))
    url = f"{base}/data?tag=overview_page&host=ALL_HOSTS"
    first = get(url)
    assert first.status == 200
    made = conversions(worker)

    client = connect(redis_server.url)
    kept = kept_answers(client)
    client.flushdb()
    assert get(url).body == first.body
    # The front end puts its copy for this browser's encoding there itself, the worker gives the answer.
    until(lambda: kept <= kept_answers(client))
    client.close()
    assert conversions(worker) == made

    worker.stop()
    assert get(url).body == first.body
