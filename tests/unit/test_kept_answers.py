"""What took the profiles to make is made once, even when every result cache has forgotten it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loader.caches.results import DirectoryResults
from loader.engine.base import Job
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.tools import HEALTH
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench, read


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


def fresh_worker(bench: Bench, engine: StandInEngine, name: str, tool: str) -> list[object]:
    """What a worker with no cache of its own answers; it shares the artifact store only."""
    results = DirectoryResults(bench.folder / name, 1 << 20, lambda: bench.now)
    service = bench.service(engine, results=results, scratch=f"{name}-scratch")
    return read(service.get(bench.request(tool)))


def kept_set(bench: Bench) -> Path:
    """The folder of the one answer that is kept."""
    (header,) = (bench.folder / "artifacts").glob("*/answer.header")
    return header.parent


def refuse_set(job: Job) -> LoaderError | None:
    """An engine that accepts no artifact set, as XProf accepts none for an overview without a TPU."""
    if (job.directory / ARTIFACT).exists():
        return LoaderError(ErrorCode.ENGINE_REFUSED, "no")
    return None


def test_answer_without_a_shared_set_is_made_once(bench: Bench) -> None:
    engine = StandInEngine()
    first = fresh_worker(bench, engine, "one", "memory_profile")
    assert fresh_worker(bench, engine, "two", "memory_profile") == first
    assert len(engine.jobs) == 1


def test_answer_that_the_set_can_not_give_reads_the_profiles_once(bench: Bench) -> None:
    engine = StandInEngine(fail=refuse_set)
    first = fresh_worker(bench, engine, "one", "overview_page")
    assert fresh_worker(bench, engine, "two", "overview_page") == first
    assert [job.tool for job in engine.jobs] == ["overview_page"]


def test_answers_from_the_shared_set_are_not_kept_twice(bench: Bench) -> None:
    engine = StandInEngine()
    fresh_worker(bench, engine, "one", "hlo_stats")
    fresh_worker(bench, engine, "two", "op_profile")
    kept = kept_set(bench)
    assert json.loads((kept / "manifest.json").read_text())["hosts"] == ["a", "b"]


def test_damaged_answer_is_made_again_and_kept_again(bench: Bench) -> None:
    engine = StandInEngine()
    first = fresh_worker(bench, engine, "one", "memory_profile")
    body = kept_set(bench) / "answer.zst"
    damaged = bytes([*body.read_bytes()[:-1], body.read_bytes()[-1] ^ 1])
    body.chmod(0o644)
    body.write_bytes(damaged)
    assert fresh_worker(bench, engine, "two", "memory_profile") == first
    assert len(engine.jobs) == 2
    assert fresh_worker(bench, engine, "three", "memory_profile") == first
    assert len(engine.jobs) == 2


def test_replaced_file_has_another_answer(bench: Bench) -> None:
    engine = StandInEngine()
    first = fresh_worker(bench, engine, "one", "memory_profile")
    bench.write("a", b"another content")
    assert fresh_worker(bench, engine, "two", "memory_profile") != first


def test_answer_of_a_session_under_way_is_not_kept(bench: Bench) -> None:
    bench.write("b", b"growing")
    engine = StandInEngine()
    fresh_worker(bench, engine, "one", "memory_profile")
    assert list((bench.folder / "artifacts").glob("*/answer.header")) == []


def test_inspection_is_kept_too(bench: Bench) -> None:
    engine = StandInEngine()
    request = ToolRequest((str(bench.session),), HEALTH)
    for name in ("one", "two"):
        results = DirectoryResults(bench.folder / name, 1 << 20, lambda: bench.now)
        bench.service(engine, results=results, scratch=f"{name}-scratch").get(request)
    fetched = list(bench.folder.glob("two-scratch/**/*.xplane.pb"))
    assert fetched == []


def test_failure_is_not_kept(bench: Bench) -> None:
    engine = StandInEngine(fail=lambda _job: LoaderError(ErrorCode.ENGINE_REFUSED, "no"))
    with pytest.raises(LoaderError):
        fresh_worker(bench, engine, "one", "memory_profile")
    assert list((bench.folder / "artifacts").glob("*/answer.header")) == []
