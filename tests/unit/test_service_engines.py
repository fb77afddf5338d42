"""What the service tells an engine with two programs, and what it makes of one that leaves no artifacts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from loader.catalog import list_session
from loader.engine.base import Converted, Job, Limits, Program, StopSignal
from loader.plan import plan_for
from tests.service_bench import ARTIFACT, Bench, StandInEngine, make_bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


@dataclass
class FastStandIn(StandInEngine):
    """Answers without leaving an artifact."""

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        converted = super().convert(job, limits, cancelled)
        (job.directory / ARTIFACT).unlink()
        return replace(converted, program=Program.RS)


def test_the_engine_is_told_of_profiles_that_programs_read_differently(bench: Bench) -> None:
    engine = StandInEngine()
    bench.write("b", b"far second")
    answered = bench.service(engine).get(bench.request())
    assert [job.is_plain for job in engine.jobs] == [False]
    assert answered.result.header.warnings == ()


def test_an_answer_without_artifacts_is_no_failed_attempt_at_them(bench: Bench) -> None:
    engine = FastStandIn()
    bench.service(engine).get(bench.request())
    plan = plan_for(
        list_session(bench.files, (str(bench.session),)), engine.version, bench.request()
    )
    assert plan.artifact_key is not None
    assert bench.results().contains(plan.key)
    assert not bench.results().contains(plan.artifact_key)
