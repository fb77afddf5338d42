"""What is not kept, what is refused before it is fetched, and what a worker with more memory is asked for."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from loader.engine.base import Job
from loader.errors import ErrorCode, LoaderError
from loader.inspection.result import Inspection
from loader.storage.base import StoredFile
from loader.tools import HEALTH
from tests.service_bench import Bench, StandInEngine, intake, make_bench, read

MB, GIB = 10**6, 1 << 30
OUT_OF_MEMORY = LoaderError(ErrorCode.OUT_OF_MEMORY, "on purpose")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def code_of(bench: Bench, engine: StandInEngine, is_large: bool = False) -> ErrorCode:
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(bench.request(), is_large=is_large)
    return caught.value.code


def test_what_can_never_fit_is_refused_with_sizes_and_not_fetched(bench: Bench) -> None:
    bench.memory_bytes = 10 * MB
    bench.write("a", b"x" * MB)
    engine = StandInEngine()
    with pytest.raises(LoaderError) as caught:
        bench.service(engine).get(bench.request())
    assert caught.value.code is ErrorCode.NEEDS_LARGER_WORKER
    assert caught.value.message.startswith(
        "This needs about 20 MB of memory; this worker may use 10 MB."
    )
    assert (engine.jobs, bench.files.downloads) == ([], [])
    # It is not remembered: a worker with more memory answers at once, from the same cache.
    bench.memory_bytes = 1000 * MB
    assert read(bench.service(engine).get(bench.request()))[1] == "hlo_stats"


def test_what_may_just_fit_runs_and_may_use_all(bench: Bench) -> None:
    """22 MB for 1 MB: between 20 and 28 times, so it is tried, with all memory for itself."""
    bench.memory_bytes = 22 * MB
    bench.write("a", b"x" * MB)
    engine = StandInEngine()
    read(bench.service(engine).get(bench.request()))
    assert engine.limits[0].memory_bytes == 22 * MB
    assert [record.reserved_bytes for record in bench.records] == [22 * MB]


def test_estimates_may_be_wrong_by_some_without_harm_to_others(bench: Bench) -> None:
    """150 MiB are set aside for 1 MB, 2.8 GB for 100 MB; each may use a GiB more, or twice as much."""
    bench.memory_bytes = 64 * GIB
    engine = StandInEngine()
    bench.write("a", b"x" * MB)
    read(bench.service(engine).get(bench.request("memory_profile", ("a",))))
    with (bench.session / "a.xplane.pb").open("wb") as profile:
        profile.truncate(100 * MB)
    bench.scratch_bytes = GIB
    read(bench.service(engine).get(bench.request("memory_profile", ("a",))))
    assert [limits.memory_bytes for limits in engine.limits] == [
        (150 << 20) + GIB,
        2 * 2800 * MB,
    ]


def test_a_profile_that_needs_more_than_was_set_aside_gets_all(bench: Bench) -> None:
    """Whatever is read: the profile, or an artifact set."""
    bench.memory_bytes = 4 * GIB
    engine = StandInEngine()
    service = bench.service(engine)

    def fail(job: Job) -> LoaderError | None:
        return OUT_OF_MEMORY if engine.limits[-1].memory_bytes < 4 * GIB else None

    engine.fail = fail
    assert read(service.get(bench.request()))[3:] == [{"a.xplane.pb": 5, "b.xplane.pb": 6}, False]
    assert read(service.get(bench.request("op_profile")))[3:] == [{}, True]
    assert [limits.memory_bytes for limits in engine.limits] == [
        (150 << 20) + GIB,
        4 * GIB,
    ] * 2
    # What the first tries left behind is not used.
    assert len({job.directory for job in engine.jobs}) == 4
    reserved = [(record.outcome, record.reserved_bytes) for record in bench.records]
    assert reserved == [("out_of_memory", 150 << 20), ("ok", 4 * GIB)] * 2


def test_what_needs_more_than_all_is_tried_with_all_and_then_refused(bench: Bench) -> None:
    bench.memory_bytes = 4 * GIB
    engine = StandInEngine(fail=lambda job: OUT_OF_MEMORY)
    assert code_of(bench, engine) is ErrorCode.OUT_OF_MEMORY
    assert [limits.memory_bytes for limits in engine.limits] == [(150 << 20) + GIB, 4 * GIB]
    assert code_of(bench, engine) is ErrorCode.OUT_OF_MEMORY
    assert len(engine.jobs) == 2  # remembered


def test_events_that_the_inspection_counts_are_seen_before_the_engine_is(bench: Bench) -> None:
    """One for each byte here, which takes 300 bytes of memory at least."""
    bench.memory_bytes = 200 * MB
    bench.write("a", b"many" * (MB // 4))
    engine = StandInEngine()
    assert code_of(bench, engine) is ErrorCode.NEEDS_LARGER_WORKER
    assert bench.files.downloads != []
    assert engine.jobs == []


@pytest.mark.parametrize("code", [ErrorCode.OUT_OF_MEMORY, ErrorCode.TIMED_OUT])
def test_a_large_worker_tries_what_another_failed_at(bench: Bench, code: ErrorCode) -> None:
    small = StandInEngine(fail=lambda job: LoaderError(code, "on purpose"))
    assert code_of(bench, small) is code
    assert code_of(bench, StandInEngine()) is code  # remembered
    service = bench.service(StandInEngine())
    assert read(service.get(bench.request(), is_large=True))[1] == "hlo_stats"
    # The answer takes the failure's place for all.
    assert read(service.get(bench.request()))[1] == "hlo_stats"


def test_a_large_worker_remembers_its_own_failures(bench: Bench) -> None:
    bench.memory_bytes = GIB
    engine = StandInEngine(fail=lambda job: LoaderError(ErrorCode.OUT_OF_MEMORY, "on purpose"))
    for _ in range(3):
        assert code_of(bench, engine, is_large=True) is ErrorCode.OUT_OF_MEMORY
    assert len(engine.jobs) == 1


def test_a_crash_is_not_tried_again_by_a_large_worker(bench: Bench) -> None:
    crashes = StandInEngine(fail=lambda job: LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose"))
    code_of(bench, crashes)
    assert code_of(bench, StandInEngine(), is_large=True) is ErrorCode.ENGINE_CRASHED


def test_a_late_host_is_waited_for_and_nothing_without_it_is_kept(bench: Bench) -> None:
    bench.write("b", b"growing")
    engine = StandInEngine()
    service = bench.service(engine)
    answered = service.get(bench.request())
    assert answered.result.header.warnings == ("1 of 2 hosts; b: ends too early",)
    assert read(answered)[2] == ["a"]
    assert list((bench.folder / "artifacts").iterdir()) == []
    service.get(bench.request())
    assert len(engine.jobs) == 1  # not made anew at every click
    bench.now += 61
    service.get(bench.request())
    assert len(engine.jobs) == 2
    bench.write("b", b"whole")
    assert read(service.get(bench.request()))[2] == ["a", "b"]


def test_a_session_of_late_hosts_only_is_incomplete_each_time(bench: Bench) -> None:
    bench.write("a", b"growing")
    bench.write("b", b"bad")
    engine = StandInEngine()
    assert [code_of(bench, engine) for _ in range(2)] == [ErrorCode.INCOMPLETE] * 2
    bench.write("a", b"whole")
    assert read(bench.service(engine).get(bench.request()))[2] == ["a"]


def test_the_health_of_a_late_host_is_looked_at_again(bench: Bench) -> None:
    bench.write("b", b"growing")
    service = bench.service(StandInEngine())
    rows = read(service.get(bench.request(HEALTH)))
    assert isinstance(rows, dict)
    assert [row.get("reason") for row in rows["hosts"]] == [None, "incomplete"]
    bench.files.downloads.clear()
    bench.now += 61
    results = bench.results()
    assert results.open(service.get(bench.request(HEALTH)).key) is not None


def test_a_warning_is_short_and_names_the_host(bench: Bench) -> None:
    bench.write("b", b"bad")
    bench.write("c", b"whole")
    bench.write("d", b"whole")
    header = bench.service(StandInEngine()).get(bench.request()).result.header
    assert header.warnings == ("3 of 4 hosts; b: ends too early",)


def test_compressed_profiles_are_unpacked_only_until_they_are_too_much(bench: Bench) -> None:
    """Each of three becomes 300 KB, and 500 KB are the memory of the worker."""
    bench.write("c", b"third")
    bench.memory_bytes = 500_000
    unpacked: list[str] = []

    def unpack(path: Path, file: StoredFile, target: Path) -> Inspection:
        unpacked.append(file.name)
        return replace(intake(path, file, target), size=300_000)

    bench.intake = unpack
    with pytest.raises(
        LoaderError, match="Unpacked, the chosen profiles have more than 0 MB"
    ) as caught:
        bench.service(StandInEngine()).get(bench.request("run_tools"))
    assert caught.value.code is ErrorCode.NEEDS_LARGER_WORKER
    assert unpacked == ["a.xplane.pb", "b.xplane.pb"]


def test_an_artifact_set_that_a_small_worker_could_not_make_is_made_once_by_a_large_one(
    bench: Bench,
) -> None:
    """What a worker with little memory remembers of its attempt lets nobody else make the set twice."""
    bench.write("a", b"x" * MB)
    bench.memory_bytes = 10 * MB
    assert code_of(bench, StandInEngine()) is ErrorCode.NEEDS_LARGER_WORKER
    bench.memory_bytes = 1000 * MB
    engine = StandInEngine(gate=threading.Event())
    large = bench.service(engine)
    with ThreadPoolExecutor(2) as pool:
        waiting = [
            pool.submit(large.get, bench.request(tool), is_large=True)
            for tool in ("hlo_stats", "op_profile")
        ]
        time.sleep(0.5)  # both have come as far as they can
        begun = len(engine.jobs)
        assert engine.gate is not None
        engine.gate.set()
        had_set = [read(answer.result(20))[4] for answer in waiting]
    assert begun == 1
    assert sorted(map(bool, had_set)) == [False, True]
