"""`xprof-hub serve` as a process: both parts together, their end, and what it refuses."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from loader.keys import ToolRequest
from server.fleet.protocol import TOOL_DATA_PATH, ToolRequestBody, worker_credential
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, copy_of, share
from tests.services.pair import until
from tests.services.processes import free_port


def tree(hub: HubProcess) -> list[psutil.Process]:
    """The hub's process and everything that it has started."""
    main = psutil.Process(hub.process.popen.pid)
    return [main, *main.children(recursive=True)]


def maps_xprof(process: psutil.Process) -> bool:
    """Whether the process has XProf's native library in its memory."""
    try:
        return "profiler_plugin_c_api" in Path(f"/proc/{process.pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):  # a conversion's child that has just ended
        return False


def wait_until_gone(processes: list[psutil.Process]) -> None:
    gone, alive = psutil.wait_procs(processes, timeout=60)
    assert alive == []
    assert len(gone) == len(processes)


@dataclass(frozen=True)
class Quiet:
    """A hub for tests that only look at it.

    Attributes:
        hub: it was started where few files may be open, with a storage root that has a comma in its name.
        odd_root: that root.
        metrics: the port where its metrics are.
    """

    hub: HubProcess
    odd_root: Path
    metrics: int

    def share(self, run: str, session: Path) -> str:
        """Address of XProf under a link to the session, whose overview is made."""
        base = share(self.hub.url, run, "s", session) + PROFILE_PATH
        assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
        return base


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory, demo_session: Path) -> Iterator[Quiet]:
    factory = HubFactory(tmp_path_factory.mktemp("quiet"))
    odd = tmp_path_factory.mktemp("odd roots") / "profiles, [c]"
    odd.mkdir()
    metrics = free_port()
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, ours[1]), ours[1]))
    try:
        hub = factory.start(
            {
                "XPROF_HUB_STORAGE_ROOTS": json.dumps([str(odd), str(demo_session)]),
                # The worker that this starts too has the same settings, and must not want the same port.
                "XPROF_HUB_METRICS_PORT": str(metrics),
            }
        )
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, ours)
    yield Quiet(hub, odd, metrics)
    factory.stop_all()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_front_end(
    hubs: HubFactory, small_session: Path, ending: signal.Signals
) -> None:
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(small_session)})
    base = share(hub.url, "r", "s", small_session) + PROFILE_PATH
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
    processes = tree(hub)
    assert len(processes) >= 3  # front end, worker, zygote
    os.kill(hub.process.popen.pid, ending)
    hub.process.popen.wait(60)
    wait_until_gone(processes[1:])
    if ending is not signal.SIGKILL:
        assert hub.process.popen.returncode == 0
        assert "Traceback" not in hub.log_text()


def test_a_dead_worker_is_started_again(hubs: HubFactory, small_session: Path) -> None:
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(small_session)})
    base = share(hub.url, "r", "s", small_session) + PROFILE_PATH
    worker = tree(hub)[1]
    worker.kill()
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
    assert tree(hub)[1].pid != worker.pid


def test_a_root_with_a_comma_reaches_the_worker(quiet: Quiet, small_session: Path) -> None:
    session = copy_of(small_session, quiet.odd_root / "a, b")
    assert quiet.share("comma", session)


def test_a_workers_own_fault_is_logged_and_not_tried_again(
    hubs: HubFactory, small_session: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    hub = hubs.start(
        {"XPROF_HUB_STORAGE_ROOTS": str(small_session), "XPROF_HUB_DATA_DIR": str(data)}
    )
    base = share(hub.url, "r", "s", small_session) + PROFILE_PATH
    shutil.rmtree(data / "scratch")
    (data / "scratch").write_text("not a directory")
    answer = get(f"{base}/data?tag=overview_page&host=ALL_HOSTS")
    assert answer.status == 500
    assert json.loads(answer.body)["error"]["details"] == [
        {"reason": "internal"},
        {"requestId": answer.headers["x-request-id"]},
    ]
    assert str(data) not in answer.body.decode()

    def logged() -> set[str]:
        """Ids of the requests whose fault is in the log."""
        faults = [line for line in hub.log_text().splitlines() if "NotADirectoryError" in line]
        return {json.loads(line).get("trace_id") for line in faults}

    until(lambda: answer.headers["x-request-id"] in logged())
    assert "xprof_hub_worker_retries_total 0.0" in get(f"{hub.url}/metrics").body.decode()


def test_both_parts_may_open_as_many_files_as_the_system_lets_them(quiet: Quiet) -> None:
    for part in tree(quiet.hub)[:2]:
        soft, hard = part.rlimit(psutil.RLIMIT_NOFILE)
        wanted = 65_536 if hard == psutil.RLIM_INFINITY else min(hard, 65_536)
        assert soft == wanted or soft > 65_536


def running_child(hub: HubProcess) -> psutil.Process:
    """The conversion's process, as soon as there is one: the zygote's child."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        for zygote in psutil.Process(hub.process.popen.pid).children():
            if children := zygote.children():
                return children[0]
        time.sleep(0.002)
    raise AssertionError("no conversion started")


def test_a_stopped_worker_ends_its_conversion_and_removes_its_directory(
    hubs: HubFactory, demo_session: Path, tmp_path: Path
) -> None:
    data, secret = tmp_path / "data", "of this test"
    worker = hubs.start(
        {
            "XPROF_HUB_STORAGE_ROOTS": str(demo_session),
            "XPROF_HUB_DATA_DIR": str(data),
            "XPROF_HUB_SECRET_KEY": secret,
            "XPROF_HUB_STOP_SECONDS": "1",
        },
        only="worker",
    )
    body = ToolRequestBody.of(ToolRequest((str(demo_session),), "trace_viewer@", None, {}))
    request = urllib.request.Request(
        worker.url + TOOL_DATA_PATH,
        body.model_dump_json().encode(),
        {
            "Authorization": f"Bearer {worker_credential(secret)}",
            "Content-Type": "application/json",
        },
    )
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(urllib.request.urlopen, request, timeout=60)
        running_child(worker).suspend()  # It would run for longer than anybody waits.
        processes = tree(worker)
        assert list((data / "scratch" / "jobs").iterdir()) != []
        worker.process.popen.terminate()
        assert worker.process.popen.wait(60) == 0
        assert waiting.exception() is not None
    assert list((data / "scratch" / "jobs").iterdir()) == []
    wait_until_gone(processes[1:])


def test_only_the_engines_children_map_xprof(quiet: Quiet, demo_session: Path) -> None:
    quiet.share("mapped", demo_session)
    front, worker, *engine = tree(quiet.hub)
    assert not maps_xprof(front)
    assert not maps_xprof(worker)
    assert any(maps_xprof(process) for process in engine)


def test_the_front_end_streams(quiet: Quiet, demo_session: Path) -> None:
    base = quiet.share("streamed", demo_session)
    front = tree(quiet.hub)[0]
    before = front.memory_info().rss
    trace = get(f"{base}/data?tag=trace_viewer@&host=ALL_HOSTS", {"Accept-Encoding": "identity"})
    assert trace.status == 200
    assert len(trace.body) > 25_000_000
    assert front.memory_info().rss - before < len(trace.body) // 2


def own_folders(folder: Path) -> dict[str, str]:
    """A data directory beside the storage root."""
    (folder / "profiles").mkdir(exist_ok=True)
    return {
        "XPROF_HUB_DATA_DIR": str(folder / "data"),
        "XPROF_HUB_STORAGE_ROOTS": str(folder / "profiles"),
    }


def refuse(env: dict[str, str], *arguments: str) -> str:
    """What `serve` says when it does not start."""
    done = subprocess.run(
        [Path(sys.executable).parent / "xprof-hub", "serve", *arguments],
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr
    return done.stderr


def test_an_unsafe_configuration_does_not_start(tmp_path: Path) -> None:
    data = own_folders(tmp_path)
    said = refuse({**data, "XPROF_HUB_ENVIRONMENT": "production"})
    for name in ("XPROF_HUB_SECRET_KEY", "XPROF_HUB_AUTH", "XPROF_HUB_DATABASE_URL"):
        assert name in said
    assert "XPROF_HUB_AUTH" in refuse(data, "--host", "0.0.0.0")
    assert "XPROF_HUB_WORKERS" in refuse(data, "--only", "front")
    assert "XPROF_HUB_PORT" in refuse({**data, "XPROF_HUB_PORT": "eighty"})
    assert "no such port" in refuse(data, "--port", "80000")


def test_an_identity_goes_to_workers_with_tls_only(tmp_path: Path) -> None:
    env = {
        **own_folders(tmp_path),
        "XPROF_HUB_WORKER_IDENTITY": "google",
        "XPROF_HUB_WORKERS": "https://a.example.org,http://10.0.0.1:8080",
    }
    said = refuse(env, "--only", "front", "--port", "0")
    assert "http://10.0.0.1:8080 in XPROF_HUB_WORKERS" in said
    assert "a.example.org" not in said


def test_a_worker_with_the_default_secret_listens_on_this_machine_only(tmp_path: Path) -> None:
    said = refuse(own_folders(tmp_path), "--only", "worker", "--host", "0.0.0.0", "--port", "0")
    assert "XPROF_HUB_SECRET_KEY" in said


@pytest.mark.parametrize("part", [(), ("--only", "worker")])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATA_DIR", "/dev/null/x"),
        ("STORAGE_ROOTS", "ftp://bucket/x"),
        ("STORAGE_ROOTS", "gs://"),
        ("STORAGE_ROOTS", "~nobody-of-this-name/x"),
        ("STORAGE_ROOTS", '["/x"'),
    ],
)
def test_folders_that_cannot_be_used_are_said(
    tmp_path: Path, part: tuple[str, ...], name: str, value: str
) -> None:
    said = refuse({**own_folders(tmp_path), f"XPROF_HUB_{name}": value}, *part, "--port", "0")
    assert f"XPROF_HUB_{name}" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("name", ["DATA_DIR", "CACHE_ROOT"])
def test_in_production_own_folders_lie_apart_from_profiles(tmp_path: Path, name: str) -> None:
    env = {
        **own_folders(tmp_path),
        "XPROF_HUB_ENVIRONMENT": "production",
        f"XPROF_HUB_{name}": str(tmp_path / "profiles" / "hub"),
    }
    said = refuse(env, "--only", "worker", "--port", "0")
    assert f"XPROF_HUB_{name}" in said
    assert "storage root" in said


def test_a_bucket_of_artifacts_without_credentials_is_said(tmp_path: Path) -> None:
    env = {
        **own_folders(tmp_path),
        "XPROF_HUB_CACHE_ROOT": "gs://bucket/artifacts",
        # Nobody need ask a metadata server whether this is a machine in the cloud.
        "NO_GCE_CHECK": "true",
    }
    assert "XPROF_HUB_CACHE_ROOT" in refuse(env, "--only", "worker", "--port", "0")
    broken = tmp_path / "key.json"
    broken.write_text("{}")
    env["GOOGLE_APPLICATION_CREDENTIALS"] = str(broken)
    assert "XPROF_HUB_CACHE_ROOT" in refuse(env, "--only", "worker", "--port", "0")


def test_a_taken_port_is_said(quiet: Quiet, tmp_path: Path) -> None:
    port = quiet.hub.url.rsplit(":", 1)[1]
    env = own_folders(tmp_path)
    assert "Choose another port" in refuse(env, "--port", port)
    shown = get(f"http://127.0.0.1:{quiet.metrics}/metrics")
    assert b"xprof_hub_requests_in_flight" in shown.body
    metrics = {"XPROF_HUB_METRICS_PORT": str(quiet.metrics)}
    own = {**env, **metrics, "XPROF_HUB_WORKERS": "http://127.0.0.1:1"}
    assert "XPROF_HUB_METRICS_PORT" in refuse(own, "--only", "front", "--port", "0")


def test_a_database_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    env = own_folders(tmp_path)
    workers = {"XPROF_HUB_WORKERS": "http://127.0.0.1:1"}
    for url, said in (
        ("mysql://u@h/d", "sqlite or postgresql"),
        ("postgresql://u:secret-password@127.0.0.1:1/d", "XPROF_HUB_DATABASE_URL"),
    ):
        text = refuse(
            {**env, **workers, "XPROF_HUB_DATABASE_URL": url}, "--only", "front", "--port", "0"
        )
        assert said in text
        assert "secret-password" not in text
