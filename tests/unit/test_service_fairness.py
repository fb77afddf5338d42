"""What one session, or work that nobody waits for, costs others: shared failures, fair turns, giving way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loader.engine.base import Converted, Job, Limits, StopSignal
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.service import ToolDataService
from loader.turns.order import Urgency
from tests.service_bench import Bench, StandInEngine, make_bench, read

MB = 10**6
OF_A_RUN = [ErrorCode.TIMED_OUT, ErrorCode.OUT_OF_MEMORY, ErrorCode.ENGINE_CRASHED]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = make_bench(tmp_path)
    (made.session / "b.xplane.pb").unlink()
    return made


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def search(bench: Bench, text: str) -> ToolRequest:
    return ToolRequest((str(bench.session),), "trace_viewer@", None, {"search_prefix": text})


def grouped(bench: Bench, by: str) -> ToolRequest:
    return ToolRequest((str(bench.session),), "op_profile", None, {"group_by": by})


def code_of(service: ToolDataService, request: ToolRequest, is_large: bool = False) -> ErrorCode:
    with pytest.raises(LoaderError) as caught:
        service.get(request, is_large=is_large)
    return caught.value.code


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("code", OF_A_RUN)
def test_a_tool_that_fails_on_a_profile_is_not_tried_with_other_options(
    bench: Bench, code: ErrorCode, is_large: bool
) -> None:
    bench.memory_bytes = 1 << 30  # so little that all of it is given at once
    engine = StandInEngine(fail=lambda job: LoaderError(code, "on purpose"))
    service = bench.service(engine)
    with ThreadPoolExecutor(8) as pool:
        codes = list(
            pool.map(lambda i: code_of(service, search(bench, f"x{i}"), is_large), range(40))
        )
    assert codes == [code] * 40
    assert len(engine.jobs) == 1
    # Other tools are not affected, nor is the next version of the profile, and it has its end.
    engine.fail = lambda job: None
    assert read(service.get(bench.request("memory_profile", ("a",)), is_large=is_large))
    bench.now += 61
    assert read(service.get(search(bench, "x41"), is_large=is_large))[1] == "trace_viewer@"


def test_another_version_of_the_profile_is_tried(bench: Bench) -> None:
    engine = StandInEngine(fail=lambda job: LoaderError(ErrorCode.TIMED_OUT, "on purpose"))
    service = bench.service(engine)
    code_of(service, search(bench, "x"))
    bench.write("a", b"repaired")
    engine.fail = lambda job: None
    assert read(service.get(search(bench, "y")))[1] == "trace_viewer@"


@pytest.mark.parametrize("code", [ErrorCode.TIMED_OUT, ErrorCode.OUT_OF_MEMORY])
def test_a_large_worker_tries_a_tool_that_another_failed_at(bench: Bench, code: ErrorCode) -> None:
    small = bench.service(StandInEngine(fail=lambda job: LoaderError(code, "on purpose")))
    code_of(small, search(bench, "x"))
    large = bench.service(StandInEngine())
    assert read(large.get(search(bench, "y"), is_large=True))[1] == "trace_viewer@"


def test_a_failure_with_an_artifact_set_counts_for_its_options_only(bench: Bench) -> None:
    engine = StandInEngine()
    service = bench.service(engine)
    service.get(bench.request("hlo_stats"))  # makes the set
    engine.fail = lambda job: LoaderError(ErrorCode.TIMED_OUT, "on purpose")
    assert code_of(service, grouped(bench, "program")) is ErrorCode.TIMED_OUT
    engine.fail = lambda job: None
    assert read(service.get(grouped(bench, "category")))[1] == "op_profile"
    assert code_of(service, grouped(bench, "program")) is ErrorCode.TIMED_OUT


def test_a_failure_on_the_profile_counts_until_there_is_an_artifact_set(bench: Bench) -> None:
    engine = StandInEngine(fail=lambda job: LoaderError(ErrorCode.TIMED_OUT, "on purpose"))
    service = bench.service(engine)
    code_of(service, grouped(bench, "program"))
    engine.fail = lambda job: None
    assert code_of(service, grouped(bench, "category")) is ErrorCode.TIMED_OUT
    service.get(bench.request("hlo_stats"))
    assert read(service.get(grouped(bench, "category")))[4] is True


@dataclass
class PartlyGatedEngine(StandInEngine):
    """Makes one host's answers at once, and waits with the others'."""

    free_host: str = "quick"
    free: StandInEngine = field(default_factory=StandInEngine)

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        if self.free_host in job.hosts:
            return self.free.convert(job, limits, cancelled)
        return super().convert(job, limits, cancelled)


@pytest.mark.parametrize(("slots", "memory_bytes"), [(4, 200 * MB), (1, 1 << 40)])
def test_a_person_does_not_wait_for_work_ahead_of_time_which_begins_anew(
    bench: Bench, slots: int, memory_bytes: int
) -> None:
    bench.slots, bench.memory_bytes = slots, memory_bytes
    bench.write("quick", b"quick")
    engine = PartlyGatedEngine(gate=threading.Event())
    service = bench.service(engine)
    with ThreadPoolExecutor(2) as pool:
        ahead = pool.submit(
            service.get, bench.request("hlo_stats", ("a",)), Urgency.PREWARM, threading.Event()
        )
        until(lambda: bool(engine.jobs))
        person = pool.submit(service.get, bench.request("memory_profile", ("quick",)))
        assert read(person.result(10))[1] == "memory_profile"
        until(lambda: len(engine.jobs) == 2)
        assert engine.gate is not None
        engine.gate.set()
        assert read(ahead.result(20))[1] == "hlo_stats"
    assert engine.jobs[0].directory != engine.jobs[1].directory
    assert [record.outcome for record in bench.records] == ["cancelled", "ok", "ok"]


def test_work_ahead_of_time_gives_way_three_times_and_is_left_then(bench: Bench) -> None:
    bench.slots = 1
    bench.write("quick", b"quick")
    engine = PartlyGatedEngine(gate=threading.Event())
    service = bench.service(engine)
    people = ["memory_profile", "inference_profile", "utilization_viewer"]
    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(
            service.get, bench.request("hlo_stats", ("a",)), Urgency.PREWARM, threading.Event()
        )
        for number, tool in enumerate(people, 1):
            until(lambda count=number: len(engine.jobs) == count)  # type: ignore[misc]
            assert read(service.get(bench.request(tool, ("quick",))))[1] == tool
        with pytest.raises(LoaderError) as caught:
            ahead.result(20)
    assert caught.value.code is ErrorCode.BUSY
    # Nothing of it is remembered.
    engine.gate = None
    assert read(service.get(bench.request("hlo_stats", ("a",))))[4] is False


def test_one_session_that_hangs_leaves_a_slot_to_others(bench: Bench, tmp_path: Path) -> None:
    bench.slots = 2
    other = tmp_path / "other"
    other.mkdir()
    (other / "quick.xplane.pb").write_bytes(b"quick")
    engine = PartlyGatedEngine(gate=threading.Event())
    service = bench.service(engine)
    with ThreadPoolExecutor(5) as pool:
        tools = ["hlo_stats", "trace_viewer@", "memory_profile", "inference_profile"]
        hang = [pool.submit(service.get, bench.request(tool, ("a",))) for tool in tools]
        until(lambda: len(engine.jobs) == 2)
        quick = pool.submit(service.get, ToolRequest((str(other),), "hlo_stats"))
        assert read(quick.result(10))[1] == "hlo_stats"
        assert len(engine.jobs) == 2
        assert engine.gate is not None
        engine.gate.set()
        for each in hang:
            each.result(20)


def test_who_needs_all_memory_waits_for_it(bench: Bench) -> None:
    """What was set aside for it was too little; others keep what they have."""
    bench.memory_bytes = 4 << 30
    bench.write("quick", b"quick")
    engine = PartlyGatedEngine(gate=threading.Event())
    problem = LoaderError(ErrorCode.OUT_OF_MEMORY, "on purpose")
    engine.free.fail = lambda job: problem if len(engine.free.jobs) == 1 else None
    service = bench.service(engine)
    with ThreadPoolExecutor(2) as pool:
        other = pool.submit(service.get, bench.request("memory_profile", ("a",)))
        until(lambda: bool(engine.jobs))
        cramped = pool.submit(service.get, bench.request("memory_profile", ("quick",)))
        until(lambda: bool(engine.free.jobs))
        time.sleep(0.5)
        assert len(engine.free.jobs) == 1
        assert engine.gate is not None
        engine.gate.set()
        assert read(other.result(20))[1] == "memory_profile"
        assert read(cramped.result(20))[1] == "memory_profile"
    assert engine.free.limits[-1].memory_bytes == 4 << 30
