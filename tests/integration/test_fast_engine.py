"""The fast engine: what it lets xprof-rs answer, and what becomes of the answer when that fails.

Programs of the system stand for an xprof-rs that ends at once or never answers.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from loader.engine.base import Converted, Job, Limits, Program, engine_version
from loader.engine.fast import ANSWERED, FastEngine
from loader.engine.rs import find_program
from loader.engine.sandbox import FIRST_UID, available_layers
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from tests.services.engine import CORPUS, MakeJob
from tests.services.pair import until

LIMITS = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
Attempts = list[tuple[str, str]]
MakeFast = Callable[[str], FastEngine]


@pytest.fixture
def attempts() -> Attempts:
    """What the engine has recorded."""
    return []


@pytest.fixture
def fast(both: XprofEngine, attempts: Attempts) -> FastEngine:
    """The engine with xprof-rs; closed with the session."""
    return FastEngine(both, lambda tool, outcome: attempts.append((tool, outcome)))


@pytest.fixture
def make_broken(attempts: Attempts) -> Iterator[MakeFast]:
    """Engines with another program in the place of xprof-rs."""
    made: list[FastEngine] = []

    def make(program: str) -> FastEngine:
        path = shutil.which(program)
        assert path is not None
        xprof = XprofEngine(program=Path(path).resolve())
        made.append(FastEngine(xprof, lambda tool, outcome: attempts.append((tool, outcome))))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


def table(converted: Converted) -> int:
    """Rows of the answer."""
    assert converted.content_type == "application/json"
    return len(json.loads(converted.output.read_bytes())["rows"])


def zygotes() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and "loader.engine.zygote" in child.cmdline()
    ]


def running(name: str) -> psutil.Process:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for zygote in zygotes():
            for child in zygote.children():
                if child.name() == name:
                    return child
        time.sleep(0.01)
    raise AssertionError(f"{name} does not run")


def test_the_version_names_both() -> None:
    assert engine_version("xprof") == "xprof-2.24.2"
    assert engine_version("fast") == "xprof-2.24.2+rs-0.1.3"


def test_a_proven_tool_is_answered_by_xprof_rs(
    fast: FastEngine, make_job: MakeJob, small_session: Path, attempts: Attempts
) -> None:
    converted = fast.convert(make_job("hlo_stats", *small_session.iterdir()), LIMITS)
    assert table(converted) == 468
    assert converted.program is Program.RS
    assert attempts == [("hlo_stats", ANSWERED)]
    assert [path.suffix for path in converted.output.parent.glob("*.pb")] == [".pb", ".pb"]


@pytest.mark.parametrize(
    ("tool", "changes"),
    [
        ("kernel_stats", {}),
        ("overview_page", {}),
        ("trace_viewer@", {}),
        ("hlo_stats", {"as_csv": True}),
        ("hlo_stats", {"is_plain": False}),
    ],
    ids=str,
)
def test_everything_else_is_xprofs(
    fast: FastEngine,
    make_job: MakeJob,
    small_session: Path,
    attempts: Attempts,
    tool: str,
    changes: dict[str, bool],
) -> None:
    job = make_job(tool, *small_session.iterdir())
    job = Job(job.directory, job.hosts, tool, **changes)  # type: ignore[arg-type]
    assert fast.convert(job, LIMITS).program is Program.XPROF
    assert attempts == []


def test_without_the_profile_xprof_answers_from_its_artifacts(
    fast: FastEngine, make_job: MakeJob, small_session: Path, attempts: Attempts
) -> None:
    job = make_job("overview_page", *small_session.iterdir())
    fast.convert(job, LIMITS)
    for profile in job.directory.glob("*.xplane.pb"):
        profile.unlink()
    converted = fast.convert(Job(job.directory, job.hosts, "hlo_stats"), LIMITS)
    assert table(converted) == 468
    assert attempts == []


@pytest.mark.parametrize("file", ["text", "one_byte"])
def test_a_refused_profile_is_refused_in_xprofs_words(
    fast: FastEngine, engine: XprofEngine, make_job: MakeJob, attempts: Attempts, file: str
) -> None:
    def failure(asked: FastEngine | XprofEngine) -> tuple[ErrorCode, str]:
        with pytest.raises(LoaderError) as caught:
            asked.convert(make_job("hlo_stats", CORPUS / f"{file}.xplane.pb"), LIMITS)
        return caught.value.code, caught.value.message

    assert failure(fast) == failure(engine)
    assert attempts == [("hlo_stats", "engine_refused")]


def test_no_allocations_are_xprofs_to_say(
    fast: FastEngine, make_job: MakeJob, attempts: Attempts
) -> None:
    with pytest.raises(LoaderError) as caught:
        fast.convert(make_job("memory_profile", CORPUS / "child_cycle.xplane.pb"), LIMITS)
    assert "the host recorded no memory allocations" in caught.value.message
    assert attempts == [("memory_profile", "engine_refused")]


def test_memory_profiles_of_tpu_hosts_are_xprofs(
    fast: FastEngine, make_job: MakeJob, demo_session: Path, attempts: Attempts
) -> None:
    host = sorted(demo_session.iterdir())[0]
    converted = fast.convert(make_job("memory_profile", host), LIMITS)
    assert json.loads(converted.output.read_bytes())["memoryIds"]
    assert converted.program is Program.XPROF
    assert attempts == [("memory_profile", "engine_refused")]


def test_a_program_that_ends_at_once_costs_nothing_but_its_try(
    make_broken: MakeFast, make_job: MakeJob, small_session: Path, attempts: Attempts
) -> None:
    converted = make_broken("true").convert(make_job("hlo_stats", *small_session.iterdir()), LIMITS)
    assert table(converted) == 468
    assert converted.program is Program.XPROF
    assert attempts == [("hlo_stats", "engine_refused")]


def test_a_program_that_never_answers_gets_a_quarter_of_the_time(
    make_broken: MakeFast, make_job: MakeJob, small_session: Path, attempts: Attempts
) -> None:
    job = make_job("hlo_stats", *small_session.iterdir())
    converted = make_broken("yes").convert(job, Limits(8, 4 << 30, 1 << 30))
    assert table(converted) == 468
    assert converted.program is Program.XPROF
    assert attempts == [("hlo_stats", "timed_out")]
    # The answer comes before its child has gone.
    until(lambda: all(zygote.children() == [] for zygote in zygotes()))


def test_the_program_runs_confined_and_ends_when_nobody_waits(
    make_broken: MakeFast, make_job: MakeJob, small_session: Path, attempts: Attempts
) -> None:
    engine, cancelled = make_broken("yes"), threading.Event()
    job = make_job("hlo_stats", *small_session.iterdir())
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(engine.convert, job, LIMITS, cancelled)
        program = running("yes")
        status = Path(f"/proc/{program.pid}/status").read_text()
        cancelled.set()
        with pytest.raises(LoaderError) as caught:
            future.result(20)
    assert caught.value.code is ErrorCode.CANCELLED
    assert attempts == [("hlo_stats", "cancelled")]
    program.wait(20)
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    held = {layer.name for layer in available_layers() if layer.holds}
    assert facts["NoNewPrivs"] == "1"
    assert facts["Seccomp"] == "2"
    assert int(facts["CapPrm"], 16) == 0
    if "own_user" in held:
        assert int(facts["Uid"].split()[0]) >= FIRST_UID


def test_memory_of_the_program_counts(
    both: XprofEngine, make_job: MakeJob, demo_session: Path
) -> None:
    job = make_job("hlo_stats", *demo_session.iterdir())
    small = Limits(60, 60 << 20, 1 << 30)
    with pytest.raises(LoaderError) as caught:
        both.convert(Job(job.directory, job.hosts, job.tool, program=Program.RS), small)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_an_answer_that_is_too_large_is_not_taken(
    both: XprofEngine, make_job: MakeJob, small_session: Path
) -> None:
    job = make_job("hlo_stats", *small_session.iterdir())
    small = Limits(60, 4 << 30, 10_000)
    with pytest.raises(LoaderError) as caught:
        both.convert(Job(job.directory, job.hosts, job.tool, program=Program.RS), small)
    assert caught.value.code is ErrorCode.ENGINE_REFUSED
    assert "too large" in caught.value.message


def test_a_missing_program_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loader.engine.rs.PACKAGE", "xprof-rs-that-nobody-has")
    with pytest.raises(RuntimeError, match=r"pip install 'xprof-hub\[fast\]'"):
        find_program()


def test_another_version_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loader.engine.rs.PACKAGE", "pytest")
    with pytest.raises(RuntimeError, match=r"compared for 0\.1\.3"):
        find_program()
