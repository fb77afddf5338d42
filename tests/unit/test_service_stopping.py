"""What a worker still does after it was told to end, and what it gives up, for another one to do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.coordination.leases import ProcessLeases
from loader.errors import ErrorCode, LoaderError
from loader.service import Answered
from loader.turns.order import Urgency
from tests.redis_workers import until
from tests.service_bench import Bench, StandInEngine, make_bench, read


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def code_of(waiting: Future[Answered]) -> ErrorCode:
    with pytest.raises(LoaderError) as caught:
        waiting.result(20)
    return caught.value.code


def test_nothing_new_is_begun_and_what_is_kept_is_still_given(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    service.get(bench.request("overview_page"))
    service.stopping.begin()
    assert code_of(pool.submit(service.get, bench.request("hlo_stats"))) is ErrorCode.BUSY
    assert read(service.get(bench.request("overview_page")))[1] == "overview_page"
    assert [job.tool for job in engine.jobs] == ["overview_page"]


def test_what_nobody_waits_for_is_given_up_at_once_and_a_persons_work_goes_on(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    ahead_of_time = pool.submit(service.get, bench.request("hlo_stats", ("a",)), Urgency.PREWARM)
    persons = pool.submit(service.get, bench.request("memory_profile", ("b",)))
    until(lambda: len(engine.jobs) == 2)
    service.stopping.begin()
    assert code_of(ahead_of_time) is ErrorCode.CANCELLED
    time.sleep(0.3)
    assert not persons.done()
    assert engine.gate is not None
    engine.gate.set()
    assert read(persons.result(20))[1] == "memory_profile"


def test_whoever_joins_work_that_goes_on_gets_its_answer(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    first = pool.submit(service.get, bench.request())
    until(lambda: bool(engine.jobs))
    service.stopping.begin()
    second = pool.submit(service.get, bench.request())
    time.sleep(0.2)
    assert engine.gate is not None
    engine.gate.set()
    assert read(first.result(20)) == read(second.result(20))
    assert len(engine.jobs) == 1


def test_when_the_time_is_over_all_is_let_go_for_the_next_worker(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    leases = ProcessLeases()
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine, leases)
    waiting = [pool.submit(service.get, bench.request()) for _ in range(4)]
    until(lambda: bool(engine.jobs))
    service.stopping.begin()
    service.stopping.let_go()
    began = time.monotonic()
    assert {code_of(each) for each in waiting} <= {ErrorCode.CANCELLED, ErrorCode.BUSY}
    assert time.monotonic() - began < 5
    assert len(engine.jobs) == 1  # None of those who waited for it begins anew.
    assert not engine.jobs[0].directory.exists()
    # Nothing of it is remembered, and its lease is free.
    other = bench.service(StandInEngine(), leases, scratch="other")
    assert read(pool.submit(other.get, bench.request()).result(20))[1] == "hlo_stats"
