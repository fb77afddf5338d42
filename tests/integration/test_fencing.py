"""Two workers on one Redis, the first of them too slow: its failure changes nothing that the second made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from loader.caches.artifacts import DirectoryArtifacts
from loader.caches.redis_results import connect
from loader.engine.base import Job
from loader.errors import ErrorCode, LoaderError
from tests.redis_workers import until, worker
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench, read
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


def end_leases(client: redis.Redis) -> None:
    """What happens to a worker that stands still for too long."""
    for name in list(client.scan_iter("xprof-hub:lease:*")):
        client.delete(name)


def crash(_job: Job) -> LoaderError:
    return LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose")


def test_a_slow_worker_stops_early_and_gives_its_successors_answer(
    bench: Bench, client: redis.Redis
) -> None:
    slow, fast = StandInEngine(gate=threading.Event()), StandInEngine()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(worker(bench, client, slow, "slow").get, bench.request())
        until(lambda: bool(slow.jobs))
        end_leases(client)
        second = read(worker(bench, client, fast, "fast").get(bench.request()))
        # Its engine would never have ended: it was cancelled.
        assert read(first.result(20)) == second
    assert (len(slow.jobs), len(fast.jobs)) == (1, 1)


def test_a_slow_workers_failure_is_not_remembered(bench: Bench, client: redis.Redis) -> None:
    slow, fast = StandInEngine(gate=threading.Event(), fail=crash), StandInEngine()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(worker(bench, client, slow, "slow").get, bench.request())
        until(lambda: bool(slow.jobs))
        end_leases(client)
        second = worker(bench, client, fast, "fast")
        answer = read(second.get(bench.request()))
        assert slow.gate is not None
        slow.gate.set()  # before it has noticed anything
        with pytest.raises(LoaderError, match="on purpose"):
            first.result(20)
    assert read(second.get(bench.request())) == answer
    # Nor is the artifact set taken for one that can't be made.
    assert read(second.get(bench.request("op_profile")))[4] is True


def test_a_slow_workers_failure_without_a_successor_is_remembered(
    bench: Bench, client: redis.Redis
) -> None:
    slow = StandInEngine(gate=threading.Event(), fail=crash)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(worker(bench, client, slow, "slow").get, bench.request())
        until(lambda: bool(slow.jobs))
        end_leases(client)
        assert slow.gate is not None
        slow.gate.set()
        with pytest.raises(LoaderError, match="on purpose"):
            first.result(20)
    with pytest.raises(LoaderError, match="on purpose"):
        worker(bench, client, StandInEngine(), "other").get(bench.request())


def test_a_slow_worker_throws_away_no_artifact_set(bench: Bench, client: redis.Redis) -> None:
    worker(bench, client, StandInEngine(), "first").get(bench.request("overview_page"))
    sets = DirectoryArtifacts(bench.folder / "artifacts", 1 << 20)
    (key,) = [path.parent.name for path in (bench.folder / "artifacts").glob(f"*/{ARTIFACT}")]
    slow = StandInEngine()
    taken: list[str] = []

    def refuse_and_stand_still(job: Job) -> LoaderError | None:
        if any(job.directory.glob("*.op_stats_v2.pb")):
            return LoaderError(ErrorCode.ENGINE_REFUSED, "damaged, it seems")
        if not taken:  # on its second run, on the profile
            taken.append("over")
            end_leases(client)
            worker(bench, client, StandInEngine(), "second").get(bench.request("hlo_stats"))
        return None

    slow.fail = refuse_and_stand_still
    worker(bench, client, slow, "slow").get(bench.request("hlo_stats"))
    assert taken
    assert sets.contains(key)
