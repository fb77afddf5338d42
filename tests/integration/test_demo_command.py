"""`xprof-hub demo` as a person runs it: a link that opens, a clean end, clear refusals."""

from __future__ import annotations

import json
import re
import signal
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import psutil
import pytest

from server.demo.session import write_session
from tests.services.hub import copy_of
from tests.services.processes import Process

LINK = re.compile(r"^Open (http://127\.0\.0\.1:\d+/s/xph_[\w-]{43})$", re.MULTILINE)


class StartDemo(Protocol):
    def __call__(self, *arguments: str) -> Process: ...


@pytest.fixture
def start_demo(tmp_path: Path) -> Iterator[StartDemo]:
    """Starts demos whose temporary files lie in `tmp_path/temporary`."""
    started: list[Process] = []
    (tmp_path / "temporary").mkdir()

    def start(*arguments: str) -> Process:
        program = Path(sys.executable).parent / "xprof-hub"
        command: list[str | Path] = [program, "demo", "--port", "0", "--no-browser"]
        environment = {
            "TMPDIR": str(tmp_path / "temporary"),
            "HOME": str(tmp_path),
            # Neither a proxy nor settings meant for a deployment may get in the demo's way.
            "HTTP_PROXY": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
            "XPROF_HUB_AUTH": "token",
            "XPROF_HUB_REDIS_URL": "redis://127.0.0.1:9/0",
        }
        log = tmp_path / f"demo{len(started)}.log"
        process = Process.start("demo", [*command, *arguments], log, env=environment)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()


def links_of(process: Process) -> list[str]:
    process.wait_for(lambda: bool(LINK.search(process.log_text())), seconds=90)
    return LINK.findall(process.log_text())


def get_json(url: str) -> object:
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def host_names(link: str) -> list[str]:
    rows = get_json(f"{link}/data/plugin/profile/hosts?run=any&tag=trace_viewer@")
    assert isinstance(rows, list)
    return [row["hostname"] for row in rows]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_demo_opens_and_ends_without_a_trace(
    start_demo: StartDemo, tmp_path: Path, number: signal.Signals
) -> None:
    process = start_demo("--hosts", "3", "--events", "3000")
    (link,) = links_of(process)
    assert len(host_names(link)) == 3
    process.wait_for(lambda: "Ctrl-C ends" in process.log_text(), seconds=90)
    assert f"share and compare: {link.partition('/s/')[0]}/runs\n" in process.log_text()
    children = psutil.Process(process.popen.pid).children(recursive=True)
    assert children

    assert process.stop(number=number) == 0
    assert "Traceback" not in process.log_text()
    assert list((tmp_path / "temporary").iterdir()) == []
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []


@pytest.mark.parametrize("form", ["log directory", "session directory", "file"])
def test_demo_shows_the_users_own_profile(
    start_demo: StartDemo, tmp_path: Path, small_session: Path, form: str
) -> None:
    logs = tmp_path / "my logs, [2]"
    session = copy_of(small_session, logs / "plugins" / "profile" / "2026_11_30 é+%")
    before = sorted(logs.rglob("*"))
    file = sorted(session.iterdir())[0]
    path = {"log directory": logs, "session directory": session, "file": file}[form]

    (link,) = links_of(start_demo(str(path)))

    assert len(host_names(link)) == (1 if form == "file" else 2)
    assert sorted(logs.rglob("*")) == before


def test_demo_links_every_session_of_a_log_directory_and_opens_the_newest(
    start_demo: StartDemo, tmp_path: Path
) -> None:
    sessions = tmp_path / "logs" / "plugins" / "profile"
    write_session(sessions / "2026_01_01", hosts=1, events=1000)
    write_session(sessions / "2026_01_02", hosts=2, events=1000)

    process = start_demo(str(tmp_path / "logs"))

    (newest,) = links_of(process)
    assert len(host_names(newest)) == 2
    (older,) = re.findall(r"^Also (\S+) \(2026_01_01\)$", process.log_text(), re.MULTILINE)
    assert len(host_names(older)) == 1


@pytest.mark.parametrize("name", ["missing", "empty", "text.txt"])
def test_a_path_without_a_profile_is_refused_in_one_line(
    start_demo: StartDemo, tmp_path: Path, name: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.txt").write_text("no profile")
    process = start_demo(str(tmp_path / name))
    assert process.popen.wait(90) == 1
    (line,) = process.log_text().splitlines()
    assert str(tmp_path / name) in line


def test_a_taken_port_is_named(start_demo: StartDemo) -> None:
    (link,) = links_of(start_demo("--hosts", "1", "--events", "1000"))
    port = link.split("/s/")[0].rpartition(":")[2]
    process = start_demo("--hosts", "1", "--events", "1000", "--port", port)
    assert process.popen.wait(90) == 1
    assert f"127.0.0.1:{port}" in process.log_text().splitlines()[-1]


def test_a_session_that_cannot_be_shared_ends_the_demo_with_its_reason(
    start_demo: StartDemo, tmp_path: Path
) -> None:
    """A folder's name may have 255 bytes, the id of a session only 200."""
    write_session(tmp_path / "logs" / "plugins" / "profile" / ("x" * 201), hosts=1, events=1000)
    process = start_demo(str(tmp_path / "logs"))
    assert process.popen.wait(90) == 1
    assert "200 bytes" in process.log_text().splitlines()[-1]
    assert "Traceback" not in process.log_text()
    assert list((tmp_path / "temporary").iterdir()) == []
