"""`xprof-hub serve` as a process: both parts together, their end, and what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import HubFactory, HubProcess, share


def tree(hub: HubProcess) -> list[psutil.Process]:
    """The hub's process and everything that it has started."""
    main = psutil.Process(hub.process.popen.pid)
    return [main, *main.children(recursive=True)]


def maps_xprof(process: psutil.Process) -> bool:
    """Whether the process has XProf's native library in its memory."""
    return "profiler_plugin_c_api" in Path(f"/proc/{process.pid}/maps").read_text()


def wait_until_gone(processes: list[psutil.Process]) -> None:
    gone, alive = psutil.wait_procs(processes, timeout=20)
    assert alive == []
    assert len(gone) == len(processes)


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
    hub.process.popen.wait(20)
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


def test_only_the_engines_children_map_xprof(hubs: HubFactory, small_session: Path) -> None:
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(small_session)})
    base = share(hub.url, "r", "s", small_session) + PROFILE_PATH
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
    front, worker, *engine = tree(hub)
    assert not maps_xprof(front)
    assert not maps_xprof(worker)
    assert any(maps_xprof(process) for process in engine)


def test_the_front_end_streams(hubs: HubFactory, demo_session: Path) -> None:
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(demo_session)})
    base = share(hub.url, "r", "s", demo_session) + PROFILE_PATH
    assert get(f"{base}/data?tag=overview_page&host=ALL_HOSTS").status == 200
    front = tree(hub)[0]
    before = front.memory_info().rss
    trace = get(f"{base}/data?tag=trace_viewer@&host=ALL_HOSTS", {"Accept-Encoding": "identity"})
    assert trace.status == 200
    assert len(trace.body) > 25_000_000
    assert front.memory_info().rss - before < len(trace.body) // 2


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
    data = {"XPROF_HUB_DATA_DIR": str(tmp_path), "XPROF_HUB_STORAGE_ROOTS": str(tmp_path)}
    said = refuse({**data, "XPROF_HUB_ENVIRONMENT": "production"})
    for name in ("XPROF_HUB_SECRET_KEY", "XPROF_HUB_AUTH", "XPROF_HUB_DATABASE_URL"):
        assert name in said
    assert "XPROF_HUB_AUTH" in refuse(data, "--host", "0.0.0.0")
    assert "XPROF_HUB_WORKERS" in refuse(data, "--only", "front")
    assert "XPROF_HUB_PORT" in refuse({**data, "XPROF_HUB_PORT": "eighty"})


def test_a_taken_port_is_said(hubs: HubFactory, small_session: Path, tmp_path: Path) -> None:
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(small_session)})
    port = hub.url.rsplit(":", 1)[1]
    env = {"XPROF_HUB_DATA_DIR": str(tmp_path), "XPROF_HUB_STORAGE_ROOTS": str(tmp_path)}
    assert "Choose another port" in refuse(env, "--port", port)


def test_a_database_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    env = {"XPROF_HUB_DATA_DIR": str(tmp_path), "XPROF_HUB_STORAGE_ROOTS": str(tmp_path)}
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
