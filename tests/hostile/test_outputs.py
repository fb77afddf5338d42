"""Of what a taken-over engine leaves only plain files under expected names are taken, after a clean end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loader.engine.base import Converted, Job, Limits, StopSignal
from loader.engine.produced import produced_files
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from tests.hostile.taken_over import GOOD
from tests.service_bench import ARTIFACT, StandInEngine, make_bench
from tests.services.engine import CORPUS, MakeJob

LIMITS = Limits(seconds=20, memory_bytes=1 << 30, output_bytes=1 << 20)
PROFILE = CORPUS / "ts_int64_min.xplane.pb"


@pytest.fixture
def taken_over(tmp_path: Path) -> Iterator[XprofEngine]:
    """An engine that obeys a profile, where neither Landlock nor a filter of system calls holds it back."""
    program = tmp_path / "python"
    poorer = f"{sys.executable} -m tests.hostile.poorer_machine - landlock,seccomp"
    zygote = f"{sys.executable} -m tests.hostile.taken_over"
    program.write_text(f'#!/bin/sh\nshift 2\nexec {poorer} {zygote} "$@"\n')
    program.chmod(0o755)
    engine = XprofEngine(python=str(program))
    yield engine
    engine.close()


def job_with(make_job: MakeJob, end: str) -> Job:
    job: Job = make_job("trace_viewer@", PROFILE, event_name=end)
    return Job(job.directory, ("ts_int64_min",), job.tool, job.options)


def test_only_plain_files_under_expected_names_are_taken(
    taken_over: XprofEngine, make_job: MakeJob
) -> None:
    job = job_with(make_job, "well")
    converted = taken_over.convert(job, LIMITS)
    assert converted.output.read_bytes() == b"{}"
    # It did leave the rest.
    assert (job.directory / "ALL_HOSTS.linked.pb").is_symlink()
    assert (job.directory / "ALL_HOSTS.other_name.pb").exists()
    assert [path.name for path in produced_files(job.directory, ["vm"])] == [GOOD]


def test_an_answer_that_is_a_link_is_none(taken_over: XprofEngine, make_job: MakeJob) -> None:
    with pytest.raises(LoaderError):
        taken_over.convert(job_with(make_job, "linked answer"), LIMITS)


def test_a_crash_is_an_error_whatever_was_written(
    taken_over: XprofEngine, make_job: MakeJob
) -> None:
    with pytest.raises(LoaderError) as caught:
        taken_over.convert(job_with(make_job, "crash"), LIMITS)
    assert caught.value.code is ErrorCode.ENGINE_CRASHED


class CrashingEngine(StandInEngine):
    """Dies after it has written its artifact."""

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        super().convert(job, limits, cancelled)
        raise LoaderError(ErrorCode.ENGINE_CRASHED, "on purpose")


def test_nothing_is_published_of_a_conversion_that_failed(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    with pytest.raises(LoaderError):
        bench.service(CrashingEngine()).get(bench.request("overview_page"))
    assert list((tmp_path / "artifacts").rglob(ARTIFACT)) == []
    assert list((tmp_path / "scratch" / "jobs").iterdir()) == []


def test_a_lost_layer_converts_nothing(tmp_path: Path, make_job: MakeJob) -> None:
    program = tmp_path / "python"
    poorer = f"{sys.executable} -m tests.hostile.poorer_machine - landlock {sys.executable}"
    program.write_text(f'#!/bin/sh\nexec {poorer} "$@"\n')
    program.chmod(0o755)
    engine = XprofEngine(python=str(program), required_layers=("landlock",))
    try:
        job = make_job("run_tools", PROFILE)
        with pytest.raises(LoaderError) as caught:
            engine.convert(job, LIMITS)
        assert caught.value.code is ErrorCode.INTERNAL
        assert "sandbox" in caught.value.message
        assert [path.name for path in job.directory.iterdir()] == [PROFILE.name]
    finally:
        engine.close()
