"""The commands of deploy/terraform's jobs are real ones, and end with the proxy told and their own status."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from textwrap import dedent
from threading import Thread

import pytest

from tests.services.terraform import MODULE

JOBS = (MODULE / "jobs.tf").read_text()
DEPLOYING = (MODULE.parents[1] / "docs" / "deploying.md").read_text()
COMMAND = re.compile(r'\{ part = "\w+", command = "([^"]+)"')
TOLD = re.compile(r'HUB_COMMAND=([^"`]+)["`]')


class Proxy(HTTPServer):
    """What the Cloud SQL Auth Proxy does at its admin port: it hears that it may go."""

    def __init__(self) -> None:
        self.told: list[str] = []
        super().__init__(("127.0.0.1", 0), _Admin)


class _Admin(BaseHTTPRequestHandler):
    server: Proxy

    def do_POST(self) -> None:
        self.server.told.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test has no use for it."""


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def run_job(
    proxy: Proxy, arguments: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """What the job's container does, with this test's proxy."""
    script = re.search(r"with_proxy = <<-EOT\n(.*?)\n +EOT", JOBS, re.DOTALL)
    assert script is not None
    text = dedent(script[1])
    assert text.count(":9091/") == 1
    here = text.replace(":9091/", f":{proxy.server_port}/")
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", here, "job", *arguments],
        env={**os.environ, **environment, "PATH": programs},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def run_command(proxy: Proxy, command: str, folder: Path) -> str:
    """What the hub answers to a job's command; the last arguments are the job's own."""
    own = re.search(r'"job", ("sh", "-c", "exec xprof-hub \$HUB_COMMAND")\]', JOBS)
    assert own is not None
    done = run_job(
        proxy,
        json.loads(f"[{own[1]}]"),
        {
            "HUB_COMMAND": command,
            "XPROF_HUB_DATA_DIR": str(folder),
            "XPROF_HUB_STORAGE_ROOTS": str(folder),
            "XPROF_HUB_SCAN_ROOTS": str(folder),
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_job_ends_with_its_commands_status_and_tells_the_proxy(proxy: Proxy) -> None:
    assert run_job(proxy, ["sh", "-c", "exit 3"], {}).returncode == 3
    assert proxy.told == ["/quitquitquit"]


def test_their_commands_do_what_they_are_for(proxy: Proxy, tmp_path: Path) -> None:
    """And the one that docs/deploying.md tells for the first token, which no log then holds."""
    commands = COMMAND.findall(JOBS)
    assert [command.split()[0] for command in commands] == ["migrate", "prune", "scan"]
    for command in commands:
        run_command(proxy, command, tmp_path)

    (told,) = [command for command in TOLD.findall(DEPLOYING) if command.startswith("tokens")]
    prepared = json.loads(run_command(proxy, "tokens prepare --json", tmp_path))
    logged = run_command(proxy, told.replace("DIGEST", prepared["digest"]), tmp_path)

    assert prepared["token"] not in logged
    with closing(sqlite3.connect(tmp_path / "registry.sqlite")) as database:
        kept = database.execute(
            "SELECT role FROM api_tokens WHERE token_hash = ?", [prepared["digest"]]
        )
        assert kept.fetchall() == [("admin",)]
    assert proxy.told == ["/quitquitquit"] * 5
