"""A comparison that can't be made costs the answer nothing, and leaves nothing behind."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from loader.admission import Admission
from loader.engine.base import Converted, Job, Limits
from loader.errors import ErrorCode, LoaderError
from loader.scratch import Scratch
from loader.shadow import FAILED, ShadowComparisons
from tests.scratch_parts import CountingStorage, left_behind
from tests.service_bench import StandInEngine


class FullDisk:
    """A scratch without space, as `loader.scratch` says it."""

    def job_directory(self) -> AbstractContextManager[Path]:
        raise LoaderError(ErrorCode.INTERNAL, "The scratch disk is full.")


@pytest.fixture
def job(tmp_path: Path) -> Job:
    directory = tmp_path / "job"
    directory.mkdir()
    (directory / "a.xplane.pb").write_bytes(b"profile")
    (directory / ".answer").write_bytes(b"{}")
    return Job(directory, ("a",), "hlo_stats")


def offer(directories: Scratch | FullDisk, job: Job) -> list[tuple[str, str]]:
    """What is counted when two answers are offered."""
    counted: list[tuple[str, str]] = []
    shadow = ShadowComparisons(
        StandInEngine(),
        directories,
        Admission(1, 1 << 30, 10.0),
        1.0,
        lambda tool, outcome: counted.append((tool, outcome)),
    )
    converted = Converted(job.directory / ".answer", "application/json", 0.1, 0.1, 1000)
    for _ in range(2):
        shadow.offer(job, converted, Limits())
    shadow.close()
    return counted


def test_a_full_disk_costs_no_answer(job: Job) -> None:
    assert offer(FullDisk(), job) == [("hlo_stats", FAILED)] * 2


def test_a_worker_without_threads_costs_no_answer(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    scratch = Scratch(tmp_path / "scratch", 1 << 20, CountingStorage())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert offer(scratch, job) == [("hlo_stats", FAILED)] * 2
    assert left_behind(tmp_path / "scratch") == []
