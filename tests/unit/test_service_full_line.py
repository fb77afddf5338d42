"""A worker whose line is full: who shares what is being made is let in, and a refusal is not remembered."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loader.caches.results import DirectoryResults
from loader.errors import ErrorCode, LoaderError
from loader.turns.order import Urgency
from tests.service_bench import Bench, StandInEngine, make_bench, read


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = make_bench(tmp_path)
    made.slots, made.most_waiting = 1, 1
    return made


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_who_asks_for_what_is_being_made_takes_no_place(bench: Bench) -> None:
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    asked = bench.request("memory_profile", ("a",))
    other = bench.request("memory_profile", ("b",))
    with ThreadPoolExecutor(24) as pool:
        made = [pool.submit(service.get, asked)]
        until(lambda: bool(engine.jobs))
        made += [pool.submit(service.get, asked) for _ in range(10)]
        line = bench.admission
        waiting = [pool.submit(service.get, other)]
        until(lambda: line.line().waiting[Urgency.PERSON] == 1)
        waiting += [pool.submit(service.get, other) for _ in range(10)]
        with pytest.raises(LoaderError) as caught:
            service.get(bench.request("inference_profile", ("a",)))
        assert (caught.value.code, caught.value.ahead) == (ErrorCode.BUSY, 1)
        assert engine.gate is not None
        engine.gate.set()
        assert {read(each.result(20))[1] for each in made + waiting} == {"memory_profile"}
    assert len(engine.jobs) == 2
    # Who was sent away comes again, and nothing is remembered of it.
    assert read(service.get(bench.request("inference_profile", ("a",))))[1] == "inference_profile"


def test_work_ahead_of_time_that_lost_its_place_is_made_when_it_is_asked_for_again(
    bench: Bench,
) -> None:
    engine = StandInEngine(gate=threading.Event())
    service = bench.service(engine)
    ahead = bench.request("hlo_stats", ("b",))
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(service.get, bench.request("memory_profile", ("a",)))
        until(lambda: bool(engine.jobs))
        prewarm = pool.submit(service.get, ahead, Urgency.PREWARM, threading.Event())
        until(lambda: bench.admission.line().waiting[Urgency.PREWARM] == 1)
        person = pool.submit(service.get, bench.request("memory_profile", ("b",)))
        with pytest.raises(LoaderError) as caught:
            prewarm.result(20)
        assert caught.value.code is ErrorCode.BUSY
        assert caught.value.retry_after is not None
        assert engine.gate is not None
        engine.gate.set()
        assert read(first.result(20))[1] == read(person.result(20))[1] == "memory_profile"
    assert read(service.get(ahead, Urgency.PREWARM))[1] == "hlo_stats"


def test_an_answer_that_could_not_be_kept_is_asked_for_again_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_what: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    engine = StandInEngine()
    service = bench.service(engine)
    asked = bench.request("memory_profile", ("a",))
    with monkeypatch.context() as broken:
        broken.setattr(DirectoryResults, "_write", full)
        with pytest.raises(LoaderError) as caught:
            service.get(asked)
        assert (caught.value.code, caught.value.retry_after) == (ErrorCode.WORKER_FULL, 30)
    assert read(service.get(asked))[1] == "memory_profile"
