"""The shadow: a sample of xprof-rs's answers is compared with XProf's, and nobody waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from loader.conversion.shadow import ShadowComparisons
from loader.engine.base import Converted, Job, Limits, Program
from loader.engine.xprof import XprofEngine
from loader.turns.admission import Admission
from loader.turns.order import Urgency
from tests.services.engine import MakeJob

LIMITS = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
Outcomes = list[tuple[str, str]]
MakeShadow = Callable[..., ShadowComparisons]


class Directories:
    """Job directories in one folder, which a test can look into."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0

    @contextmanager
    def job_directory(self) -> Iterator[Path]:
        self._made += 1
        directory = self._folder / str(self._made)
        directory.mkdir(mode=0o700)
        yield directory
        for path in directory.iterdir():
            path.unlink()
        directory.rmdir()


class Somebody:
    """Who has a turn already."""

    urgency = Urgency.PERSON
    session = "session"

    def give_way(self) -> None:
        pass

    def check_wait(self) -> None:
        pass

    def show_waiting(self, ahead: int) -> None:
        pass


@pytest.fixture
def outcomes() -> Outcomes:
    return []


@pytest.fixture
def admission() -> Admission:
    return Admission(slots=1, memory_bytes=4 << 30, seconds=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs"
    folder.mkdir()
    return folder


@pytest.fixture
def make_shadow(
    both: XprofEngine, folder: Path, admission: Admission, outcomes: Outcomes
) -> Iterator[MakeShadow]:
    made: list[ShadowComparisons] = []

    def make(fraction: float = 1.0) -> ShadowComparisons:
        made.append(
            ShadowComparisons(
                both,
                Directories(folder),
                admission,
                fraction,
                lambda tool, outcome: outcomes.append((tool, outcome)),
            )
        )
        return made[-1]

    yield make
    for shadow in made:
        shadow.close()


@pytest.fixture
def answered(both: XprofEngine, make_job: MakeJob, small_session: Path) -> tuple[Job, Converted]:
    """A job that xprof-rs has answered."""
    job = make_job("hlo_stats", *small_session.iterdir())
    return job, both.convert(replace(job, program=Program.RS), LIMITS)


def finish() -> None:
    for thread in threading.enumerate():
        if thread.name == "shadow":
            thread.join(60)


def test_an_equal_answer_is_counted_and_leaves_nothing(
    make_shadow: MakeShadow, answered: tuple[Job, Converted], outcomes: Outcomes, folder: Path
) -> None:
    job, converted = answered
    make_shadow().offer(job, converted, LIMITS)
    # The job's directory goes as soon as its answer is out.
    for path in list(job.directory.iterdir()):
        path.unlink()
    finish()
    assert outcomes == [("hlo_stats", "equal")]
    assert list(folder.iterdir()) == []


def test_a_different_answer_is_counted_and_logged_without_its_text(
    make_shadow: MakeShadow,
    answered: tuple[Job, Converted],
    outcomes: Outcomes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    job, converted = answered
    wrong = job.directory / "wrong"
    wrong.write_bytes(converted.output.read_bytes().replace(b'"all-reduce.', b'"secret.', 1))
    with caplog.at_level(logging.WARNING):
        make_shadow().offer(job, replace(converted, output=wrong), LIMITS)
        finish()
    assert outcomes == [("hlo_stats", "different")]
    assert "hlo_stats of xprof-rs differs from XProf's at rows[" in caplog.text
    assert "secret" not in caplog.text
    assert "all-reduce" not in caplog.text


def test_an_answer_that_xprof_refuses_is_different(
    make_shadow: MakeShadow, answered: tuple[Job, Converted], outcomes: Outcomes
) -> None:
    job, converted = answered
    host = job.directory / f"{job.hosts[0]}.xplane.pb"
    host.unlink()
    host.write_bytes(b"no profile at all")
    make_shadow().offer(job, converted, LIMITS)
    finish()
    assert outcomes == [("hlo_stats", "different")]


def test_it_waits_for_people_and_only_one_waits(
    make_shadow: MakeShadow,
    answered: tuple[Job, Converted],
    admission: Admission,
    outcomes: Outcomes,
) -> None:
    job, converted = answered
    shadow = make_shadow()
    with admission.enter(Somebody(), 1 << 20):
        shadow.offer(job, converted, LIMITS)
        shadow.offer(job, converted, LIMITS)
        assert [thread.name for thread in threading.enumerate()].count("shadow") == 1
        assert outcomes == []
    finish()
    assert outcomes == [("hlo_stats", "equal")]
    shadow.offer(job, converted, LIMITS)
    finish()
    assert len(outcomes) == 2


def test_it_is_given_up_when_the_worker_ends(
    make_shadow: MakeShadow,
    answered: tuple[Job, Converted],
    admission: Admission,
    outcomes: Outcomes,
    folder: Path,
) -> None:
    job, converted = answered
    shadow = make_shadow()
    with admission.enter(Somebody(), 1 << 20):
        shadow.offer(job, converted, LIMITS)
        shadow.close()
    assert outcomes == []
    assert list(folder.iterdir()) == []
    shadow.offer(job, converted, LIMITS)
    assert list(folder.iterdir()) == []


def test_without_a_fraction_nothing_is_compared(
    make_shadow: MakeShadow, answered: tuple[Job, Converted], outcomes: Outcomes
) -> None:
    job, converted = answered
    shadow = make_shadow(0.0)
    for _ in range(100):
        shadow.offer(job, converted, LIMITS)
    finish()
    assert outcomes == []
