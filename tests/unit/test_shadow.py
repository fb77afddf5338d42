"""A comparison that can't be made costs the answer nothing, and leaves nothing behind."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from loader.conversion.shadow import FAILED, ShadowComparisons
from loader.engine.base import Converted, Job, Limits
from loader.errors import ErrorCode, LoaderError
from loader.intake.scratch import Scratch
from loader.turns.admission import Admission
from loader.turns.order import Urgency
from tests.scratch_parts import CountingStorage, left_behind
from tests.service_bench import StandInEngine


class FullDisk:
    """A scratch without space, as `loader.intake.scratch` says it."""

    def job_directory(self) -> AbstractContextManager[Path]:
        raise LoaderError(ErrorCode.INTERNAL, "The scratch disk is full.")


class Person:
    """Somebody who wants to convert."""

    urgency = Urgency.PERSON
    session = "session"

    def check_wait(self) -> None:
        pass

    def show_waiting(self, ahead: int) -> None:
        pass

    def give_way(self) -> None:
        raise AssertionError("a person was told to end")


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


def test_a_comparison_gives_way_to_a_person_and_counts_as_none(job: Job, tmp_path: Path) -> None:
    engine = StandInEngine(gate=threading.Event())
    admission = Admission(1, 1 << 30, 10.0)
    counted: list[tuple[str, str]] = []
    scratch = Scratch(tmp_path / "scratch", 1 << 20, CountingStorage())
    shadow = ShadowComparisons(
        engine, scratch, admission, 1.0, lambda tool, outcome: counted.append((tool, outcome))
    )
    converted = Converted(job.directory / ".answer", "application/json", 0.1, 0.1, 1000)
    shadow.offer(job, converted, Limits())
    while not engine.jobs:
        threading.Event().wait(0.005)
    with admission.enter(Person(), 1 << 20):
        pass  # though nobody has opened the gate
    shadow.close()
    assert counted == []
    assert left_behind(tmp_path / "scratch") == []
