"""Programs as users run them on their machines, with the clients of `requirements-clients.lock`.

They live in an environment of their own, `.venv-clients`, which `make test` makes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.hub import KEPT_VARIABLES
from tests.services.processes import Process

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "clients"


@dataclass(frozen=True)
class Job:
    """A running or ended program."""

    process: Process

    def wait(self, seconds: float = 60) -> int:
        """Waits for its end; returns its exit status."""
        return self.process.popen.wait(seconds)

    def said(self) -> dict[str, object]:
        """What it has printed so far: the JSON objects of its lines in one."""
        found: dict[str, object] = {}
        for line in self.process.log_text().splitlines():
            if line.startswith("{"):
                found.update(json.loads(line))
        return found

    @property
    def text(self) -> str:
        """All that it has printed, to either stream."""
        return self.process.log_text()

    def wait_until_said(self, name: str) -> None:
        """Waits until it has printed this fact."""
        self.process.wait_for(lambda: name in self.said(), seconds=60)


class Jobs:
    """Starts programs of `tests/clients` and ends them all."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._started: list[Process] = []

    def start(self, program: str, *arguments: str, env: dict[str, str] | None = None) -> Job:
        """Starts a program, with nothing in its environment that a developer may have set."""
        variables = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
        # JAX looks for no accelerator and one job takes no more than its core.
        variables |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
        variables |= env or {}
        number = len(self._started)
        process = Process.start(
            f"{program} {number}",
            [self._python, PROGRAMS / program, *arguments],
            self._folder / f"job-{number}.log",
            env=variables,
        )
        self._started.append(process)
        return Job(process)

    def run(self, program: str, *arguments: str, env: dict[str, str] | None = None) -> Job:
        """Starts a program and waits for its end."""
        job = self.start(program, *arguments, env=env)
        job.wait()
        return job

    def kill_all(self) -> None:
        """Ends every program that still runs."""
        for process in self._started:
            process.kill()


@pytest.fixture(scope="session")
def clients_python() -> Path:
    """The Python of the clients' environment."""
    python = ROOT / ".venv-clients" / "bin" / "python"
    if not (python.parents[1] / ".ready").exists():
        reason = (
            ".venv-clients is missing. Make it with: make .venv-clients/.ready (make test does so)."
        )
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return python


@pytest.fixture
def jobs(clients_python: Path, tmp_path: Path) -> Iterator[Jobs]:
    """Starts programs for one test."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    started = Jobs(clients_python, folder)
    yield started
    started.kill_all()
