"""What becomes of a conversion that goes wrong, and of the processes around it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from loader.engine.base import Converted, Limits
from loader.engine.produced import produced_files
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from tests.services.engine import CORPUS, MakeJob

AMPLE = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
ENDLESS = "hlo_call_fan_2pow22.xplane.pb"
"""2^22 calls of one computation in another: overview_page would take hours."""


@pytest.fixture
def own_engine() -> Iterator[XprofEngine]:
    """An engine that a test may break."""
    engine = XprofEngine()
    yield engine
    engine.close()


def failure(
    engine: XprofEngine, make_job: MakeJob, tool: str, file: str, **options: str
) -> LoaderError:
    with pytest.raises(LoaderError) as caught:
        engine.convert(make_job(tool, CORPUS / file, **options), AMPLE)
    return caught.value


def zygote_of(engine: XprofEngine) -> psutil.Process:
    engine.layers()
    assert engine.zygote_pid is not None
    zygote = psutil.Process(engine.zygote_pid)
    assert "loader.engine.zygote" in zygote.cmdline()
    return zygote


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start_endless(
    pool: ThreadPoolExecutor, engine: XprofEngine, make_job: MakeJob
) -> tuple[Future[Converted], psutil.Process]:
    """A job that never ends, and its process."""
    zygote = zygote_of(engine)
    future = pool.submit(engine.convert, make_job("overview_page", CORPUS / ENDLESS), AMPLE)
    eventually(lambda: bool(zygote.children()))
    return future, zygote.children()[0]


def test_crash_is_told_from_refusal(engine: XprofEngine, make_job: MakeJob) -> None:
    crash = failure(engine, make_job, "overview_page", "child_cycle.xplane.pb")
    assert crash.code is ErrorCode.ENGINE_CRASHED
    assert "overview_page" in crash.message
    assert "SIGSEGV" in crash.message
    refusal = failure(engine, make_job, "overview_page", "text.xplane.pb")
    assert (refusal.code, refusal.file) == (ErrorCode.MALFORMED, "text.xplane.pb")
    assert "a part of it is damaged" in refusal.message


def test_a_crash_in_one_tool_leaves_the_others(engine: XprofEngine, make_job: MakeJob) -> None:
    crashing = CORPUS / "child_cycle.xplane.pb"
    with pytest.raises(LoaderError):
        engine.convert(make_job("op_profile", crashing), AMPLE)
    assert engine.convert(make_job("trace_viewer@", crashing), AMPLE).output.stat().st_size > 0


def test_an_abort_is_a_crash(engine: XprofEngine, make_job: MakeJob) -> None:
    profile = CORPUS / "ba_missing_instruction.xplane.pb"
    modules = engine.convert(make_job("module_list", profile), AMPLE).output.read_text()
    job = make_job("memory_viewer", profile, module_name=modules.split(",")[0])
    with pytest.raises(LoaderError) as caught:
        engine.convert(
            type(job)(job.directory, job.hosts, job.tool, job.options, needs_modules=True), AMPLE
        )
    assert caught.value.code is ErrorCode.ENGINE_CRASHED
    assert "SIGABRT" in caught.value.message


def test_no_data_is_said_in_words(engine: XprofEngine, make_job: MakeJob) -> None:
    error = failure(engine, make_job, "memory_profile", "child_cycle.xplane.pb")
    assert error.code is ErrorCode.ENGINE_REFUSED
    assert error.message == (
        "XProf can't make memory_profile from child_cycle.xplane.pb: this profile holds no data for "
        "memory_profile: the host recorded no memory allocations"
    )


def test_time_limit(engine: XprofEngine, make_job: MakeJob) -> None:
    job = make_job("overview_page", CORPUS / ENDLESS)
    with pytest.raises(LoaderError) as caught:
        engine.convert(job, Limits(1, 4 << 30, 1 << 30))
    assert caught.value.code is ErrorCode.TIMED_OUT
    assert "1 s" in caught.value.message


def test_memory_limit(engine: XprofEngine, make_job: MakeJob, small_session: Path) -> None:
    # The engine's library alone is 36 MB; this overview takes more than 60.
    job = make_job("overview_page", *small_session.iterdir())
    with pytest.raises(LoaderError) as caught:
        engine.convert(job, Limits(60, 45 << 20, 1 << 30))
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_file_size_limit(engine: XprofEngine, make_job: MakeJob, small_session: Path) -> None:
    job = make_job("trace_viewer@", *small_session.iterdir())
    with pytest.raises(LoaderError) as caught:
        engine.convert(job, Limits(60, 4 << 30, 10_000))
    assert caught.value.code is ErrorCode.TOO_LARGE


@pytest.mark.parametrize("tool", ["memory_profile", "trace_viewer", "kernel_utilization"])
def test_single_host_tools_ask_for_a_host(
    engine: XprofEngine, make_job: MakeJob, small_session: Path, tool: str
) -> None:
    with pytest.raises(LoaderError) as caught:
        engine.convert(make_job(tool, *small_session.iterdir()), AMPLE)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert caught.value.message == f"{tool} shows one host at a time; choose a host."


def test_messages_name_no_folder_of_the_server(
    engine: XprofEngine, make_job: MakeJob, tmp_path: Path
) -> None:
    codes = {
        "text": ErrorCode.MALFORMED,
        "one_byte": ErrorCode.MALFORMED,
        "hlo_slash": ErrorCode.ENGINE_REFUSED,
    }
    for file, code in codes.items():
        error = failure(engine, make_job, "run_tools", f"{file}.xplane.pb")
        assert error.code is code
        assert "/" not in error.message
        assert tmp_path.name not in error.message


def test_a_killed_zygote_fails_its_job_and_not_the_next(
    own_engine: XprofEngine, make_job: MakeJob, small_session: Path
) -> None:
    with ThreadPoolExecutor() as pool:
        future, child = start_endless(pool, own_engine, make_job)
        zygote_of(own_engine).kill()
        with pytest.raises(LoaderError) as caught:
            future.result(20)
    assert caught.value.code is ErrorCode.INTERNAL
    eventually(lambda: not child.is_running())
    job = make_job("kernel_stats", *small_session.iterdir())
    assert own_engine.convert(job, AMPLE).output.stat().st_size > 0


def test_a_killed_child_fails_its_job_alone(own_engine: XprofEngine, make_job: MakeJob) -> None:
    with ThreadPoolExecutor() as pool:
        (doomed, child), (other, _) = (
            start_endless(pool, own_engine, make_job),
            start_endless(pool, own_engine, make_job),
        )
        child.kill()
        with pytest.raises(LoaderError) as caught:
            doomed.result(20)
        assert caught.value.code is ErrorCode.INTERNAL
        assert not other.done()
        own_engine.close()
        with pytest.raises(LoaderError):
            other.result(20)


def test_close_leaves_no_process_and_fails_what_runs(
    own_engine: XprofEngine, make_job: MakeJob
) -> None:
    with ThreadPoolExecutor() as pool:
        future, child = start_endless(pool, own_engine, make_job)
        zygote = zygote_of(own_engine)
        own_engine.close()
        with pytest.raises(LoaderError) as caught:
            future.result(20)
    assert caught.value.code is ErrorCode.INTERNAL
    assert not zygote.is_running()
    assert not child.is_running()
    with pytest.raises(LoaderError):
        own_engine.layers()


def test_jobs_in_parallel_and_no_zombies(
    engine: XprofEngine, make_job: MakeJob, small_session: Path
) -> None:
    profiles = sorted(small_session.iterdir())
    jobs = [
        make_job(tool, *profiles) for tool in ("kernel_stats", "overview_page", "hlo_stats") * 3
    ]
    with ThreadPoolExecutor(9) as pool:
        results = list(pool.map(lambda job: engine.convert(job, AMPLE), jobs))
    for job, result in zip(jobs, results, strict=True):
        assert result.output.parent == job.directory
        assert result.seconds > 0
        assert result.cpu_seconds > 0
        assert result.peak_memory_bytes > 30 << 20
    zygote = zygote_of(engine)
    eventually(lambda: zygote.children() == [])


def test_this_process_never_maps_the_engine(
    engine: XprofEngine, make_job: MakeJob, small_session: Path
) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from loader.engine.base import Job, Limits\n"
        "from loader.engine.xprof import XprofEngine, check_pinned\n"
        "check_pinned()\n"
        "engine = XprofEngine()\n"
        "engine.convert(Job(Path(sys.argv[1]), tuple(sys.argv[2:]), 'run_tools'), Limits())\n"
        "assert 'profiler_plugin' not in Path('/proc/self/maps').read_text()\n"
        "assert not any(name.split('.')[0] == 'xprof' for name in sys.modules)\n"
        "engine.close()\n"
    )
    job = make_job("run_tools", *small_session.iterdir())
    command = [sys.executable, "-c", script, str(job.directory), *job.hosts]
    subprocess.run(command, check=True, timeout=60, cwd=Path(__file__).parents[2])


def test_children_die_with_a_killed_server(make_job: MakeJob) -> None:
    script = (
        "import sys, threading\n"
        "from pathlib import Path\n"
        "from loader.engine.base import Job, Limits\n"
        "from loader.engine.xprof import XprofEngine\n"
        "engine = XprofEngine()\n"
        "engine.layers()\n"
        "print('started', flush=True)\n"
        "engine.convert(Job(Path(sys.argv[1]), tuple(sys.argv[2:]), 'overview_page'), Limits())\n"
    )
    job = make_job("overview_page", CORPUS / ENDLESS)
    server = subprocess.Popen(
        [sys.executable, "-c", script, str(job.directory), *job.hosts],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    seen = psutil.Process(server.pid)
    assert server.stdout is not None
    assert server.stdout.readline() == b"started\n"  # what tries the sandbox has ended
    eventually(lambda: len(seen.children(recursive=True)) == 2)
    family = seen.children(recursive=True)
    server.send_signal(signal.SIGKILL)
    server.wait(20)
    server.stdout.close()
    eventually(lambda: not any(process.is_running() for process in family))


def test_the_zygote_outlives_the_thread_that_asked_first(
    own_engine: XprofEngine, make_job: MakeJob, small_session: Path
) -> None:
    job = make_job("kernel_stats", *small_session.iterdir())
    thread = threading.Thread(target=own_engine.convert, args=(job, AMPLE))
    thread.start()
    thread.join(60)
    zygote = own_engine.zygote_pid
    own_engine.convert(make_job("kernel_stats", *small_session.iterdir()), AMPLE)
    assert own_engine.zygote_pid == zygote


def test_the_zygote_holds_no_secret_and_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XPROF_HUB_SECRET_KEY", "a secret of the server")
    engine = XprofEngine()
    try:
        zygote = zygote_of(engine)
        assert "XPROF_HUB_SECRET_KEY" not in zygote.environ()
        assert zygote.num_threads() == 1
    finally:
        engine.close()


def test_artifacts_are_what_xprof_writes_and_serve_without_the_profile(
    engine: XprofEngine, make_job: MakeJob, small_session: Path
) -> None:
    profiles = sorted(small_session.iterdir())
    job = make_job("trace_viewer@", *profiles)
    whole = engine.convert(job, AMPLE).output.read_bytes()
    artifacts = produced_files(job.directory, job.hosts)
    assert [path.name for path in artifacts] == sorted(
        host + ending
        for host in job.hosts
        for ending in (".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE")
    )
    assert all(os.access(path, os.R_OK) for path in artifacts)
    later = make_job("trace_viewer@", *artifacts)
    answer = engine.convert(type(job)(later.directory, job.hosts, job.tool), AMPLE)
    assert len(answer.output.read_bytes()) == len(whole)


def test_a_profile_without_hlo_has_the_module_list_of_xprof(
    engine: XprofEngine, make_job: MakeJob
) -> None:
    # XProf leaves a marker, NO_MODULE.hlo_proto.pb, and lists it like a module.
    job = make_job("module_list", CORPUS / "ts_int64_min.xplane.pb")
    assert engine.convert(job, AMPLE).output.read_text() == "NO_MODULE"
