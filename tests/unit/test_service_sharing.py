"""For whom an answer is made: people before work ahead of time, which is given up when nobody wants it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.service import Answered, ToolDataService
from loader.storage.base import StoredFile
from loader.turns.order import Urgency
from tests.scratch_parts import left_behind
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench, read

PREWARM = Urgency.PREWARM


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as threads:
        yield threads


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def code_of(waiting: Future[Answered]) -> ErrorCode:
    with pytest.raises(LoaderError) as caught:
        waiting.result(20)
    return caught.value.code


def test_work_ahead_of_time_ends_when_it_is_cancelled(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service, cancelled = bench.service(engine), threading.Event()
    waiting = pool.submit(service.get, bench.request(), PREWARM, cancelled)
    until(lambda: bool(engine.jobs))
    cancelled.set()
    assert code_of(waiting) is ErrorCode.CANCELLED
    assert not engine.jobs[0].directory.exists()
    # Nothing of it is remembered: who asks next gets the answer.
    assert engine.gate is not None
    engine.gate.set()
    assert read(service.get(bench.request()))[1] == "hlo_stats"


def test_a_download_ends_when_it_is_cancelled(bench: Bench, pool: ThreadPoolExecutor) -> None:
    engine = StandInEngine()
    service, cancelled, going_on = bench.service(engine), threading.Event(), threading.Event()

    def wait(file: StoredFile, path: Path) -> None:
        assert going_on.wait(20)

    bench.files.before = wait
    ahead = pool.submit(service.get, bench.request(), PREWARM, cancelled)
    until(lambda: bool(bench.files.downloads))
    cancelled.set()
    going_on.set()
    assert code_of(ahead) is ErrorCode.CANCELLED
    assert engine.jobs == []
    scratch = bench.folder / "scratch"
    until(lambda: not left_behind(scratch))
    assert list((scratch / "files").iterdir()) == []


def test_a_person_who_joins_gets_it_though_it_is_cancelled(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service, cancelled = bench.service(engine), threading.Event()
    ahead = pool.submit(service.get, bench.request(), PREWARM, cancelled)
    until(lambda: bool(engine.jobs))
    person = pool.submit(service.get, bench.request())
    time.sleep(0.3)  # it has joined
    cancelled.set()
    time.sleep(0.3)
    assert engine.gate is not None
    engine.gate.set()
    assert read(person.result(20)) == read(ahead.result(20))
    assert len(engine.jobs) == 1


def test_one_who_gives_up_does_not_stop_others_who_asked_ahead_of_time(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service, first, second = bench.service(engine), threading.Event(), threading.Event()
    leads = pool.submit(service.get, bench.request(), PREWARM, first)
    until(lambda: bool(engine.jobs))
    joins = pool.submit(service.get, bench.request(), PREWARM, second)
    time.sleep(0.3)
    second.set()
    assert code_of(joins) is ErrorCode.CANCELLED
    assert engine.gate is not None
    engine.gate.set()
    assert read(leads.result(20))[1] == "hlo_stats"


def test_what_is_cancelled_in_the_queue_is_never_begun(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    bench.slots = 1
    engine = StandInEngine(gate=threading.Event())
    service, cancelled = bench.service(engine), threading.Event()
    person = pool.submit(service.get, bench.request("memory_profile", ("a",)))
    until(lambda: bool(engine.jobs))
    ahead = pool.submit(service.get, bench.request(), PREWARM, cancelled)
    time.sleep(0.3)
    cancelled.set()
    assert code_of(ahead) is ErrorCode.CANCELLED
    assert engine.gate is not None
    engine.gate.set()
    person.result(20)
    assert [job.tool for job in engine.jobs] == ["memory_profile"]
    # It didn't count as a failed attempt at the artifact set.
    assert read(service.get(bench.request()))[4] is False


def test_a_person_overtakes_work_ahead_of_time(bench: Bench, pool: ThreadPoolExecutor) -> None:
    bench.slots = 1
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    waiting = [pool.submit(service.get, bench.request("memory_profile", ("a",)))]
    until(lambda: bool(engine.jobs))
    waiting.append(pool.submit(service.get, bench.request("memory_profile", ("b",)), PREWARM))
    time.sleep(0.3)
    waiting.append(pool.submit(service.get, bench.request("inference_profile", ("a",))))
    time.sleep(0.3)
    assert engine.gate is not None
    engine.gate.set()
    for each in waiting:
        each.result(20)
    assert [job.tool for job in engine.jobs] == [
        "memory_profile",
        "inference_profile",
        "memory_profile",
    ]


def test_a_person_who_needs_what_is_made_ahead_of_time_pulls_it_forward(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    """The person's tool shares the artifact set of work that stands behind another person in the queue."""
    bench.slots = 1
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    first = pool.submit(service.get, bench.request("memory_profile", ("a",)))
    until(lambda: bool(engine.jobs))
    ahead = pool.submit(service.get, bench.request("overview_page"), PREWARM)
    time.sleep(0.3)
    person = pool.submit(service.get, bench.request("hlo_stats"))
    time.sleep(0.6)
    last = pool.submit(service.get, bench.request("memory_profile", ("b",)))
    time.sleep(0.3)
    assert engine.gate is not None
    engine.gate.set()
    for each in (first, ahead, person, last):
        each.result(20)
    assert [job.tool for job in engine.jobs][:2] == ["memory_profile", "overview_page"]


def test_who_waits_is_sent_away_when_the_worker_ends(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    bench.slots = 1
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    running = pool.submit(service.get, bench.request("overview_page"))
    until(lambda: bool(engine.jobs))
    for_a_turn = pool.submit(service.get, bench.request("memory_profile", ("a",)))
    for_a_lease = pool.submit(service.get, bench.request("hlo_stats"))
    time.sleep(0.3)
    service.stopping.begin()
    assert [code_of(for_a_turn), code_of(for_a_lease)] == [ErrorCode.BUSY] * 2
    assert engine.gate is not None
    engine.gate.set()
    assert read(running.result(20))[1] == "overview_page"  # what has begun is finished


def test_a_crash_is_met_once_by_eight(bench: Bench, pool: ThreadPoolExecutor) -> None:
    engine = StandInEngine(fail=lambda job: LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose"))
    service = bench.service(engine)
    waiting = [pool.submit(service.get, bench.request()) for _ in range(8)]
    assert {code_of(each) for each in waiting} == {ErrorCode.ENGINE_CRASHED}
    once = [("a", "b"), ("a",), ("b",)]
    assert [job.hosts for job in engine.jobs] == once
    bench.now += 61  # a failure's own short life
    with pytest.raises(LoaderError, match="on purpose"):
        bench.service(engine).get(bench.request())
    assert [job.hosts for job in engine.jobs] == once * 2


@pytest.mark.parametrize("tool", ["memory_profile", "inference_profile"])
def test_what_xprof_never_keeps_is_kept(bench: Bench, tool: str) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    answers = [read(service.get(bench.request(tool, ("a",)))) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert len(engine.jobs) == 1


def test_one_host_is_fetched_for_a_tool_that_shows_one(bench: Bench) -> None:
    service = bench.service(StandInEngine())
    service.get(bench.request("memory_profile", ("b",)))
    assert bench.files.downloads == ["b.xplane.pb"]


def test_nothing_is_fetched_when_the_shared_set_is_enough(bench: Bench) -> None:
    bench.service(StandInEngine()).get(bench.request("overview_page"))
    bench.files.downloads.clear()
    answer = read(bench.service(StandInEngine(), scratch="other").get(bench.request("hlo_stats")))
    assert answer[4] is True
    assert bench.files.downloads == []
    assert (bench.folder / "artifacts").exists()
    assert ARTIFACT


def test_two_people_wait_for_one_lease_of_another_process(
    bench: Bench, pool: ThreadPoolExecutor
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service: ToolDataService = bench.service(engine)
    waiting = [
        pool.submit(service.get, bench.request(tool)) for tool in ("overview_page", "hlo_stats")
    ]
    until(lambda: bool(engine.jobs))
    assert engine.gate is not None
    engine.gate.set()
    assert sorted(read(each.result(20))[4] is True for each in waiting) == [False, True]
