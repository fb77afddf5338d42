"""XProf Hub's own processes, started as an administrator starts them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

import pytest

from tests.services.processes import Process, free_port, http_status

KEPT_VARIABLES = ("HOME", "LANG", "PATH", "TMPDIR", "TZ")
"""What a hub gets of the environment of the tests, so that a developer's settings change nothing."""


@dataclass(frozen=True)
class HubProcess:
    """A running `xprof-hub serve`.

    Attributes:
        url: its address, with path prefix, without trailing slash.
        process: the process that was started.
    """

    url: str
    process: Process

    def stop(self) -> int:
        """Ends it in good order; returns its exit status."""
        return self.process.stop()

    def kill(self) -> None:
        """Ends it at once, as a lost machine would."""
        self.process.kill()

    def log_text(self) -> str:
        """Everything that it has logged."""
        return self.process.log_text()


class HubFactory:
    """Starts hubs and ends them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[HubProcess] = []

    def start(
        self,
        env: Mapping[str, str],
        only: Literal["front", "worker"] | None = None,
        port: int | None = None,
        host: str = "127.0.0.1",
        through: Sequence[str] = (),
    ) -> HubProcess:
        """Starts a hub and waits until `/readyz` answers 200.

        Args:
            env: its settings by their full names, e.g. `XPROF_HUB_REDIS_URL`. Without `XPROF_HUB_DATA_DIR` it
                gets a data directory of its own. Nothing is converted in advance unless they say so.
            only: which half to start; None starts both.
            port: where it listens; a free one if None.
            host: address of this machine where it listens.
            through: a command that changes its surroundings and becomes it, such as `env`.
        """
        name = f"{only or 'hub'}-{uuid4().hex[:8]}"
        folder = self._folder / name
        folder.mkdir()
        port = port or free_port()
        variables = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
        variables["XPROF_HUB_DATA_DIR"] = str(folder / "data")
        variables["XPROF_HUB_PREWARM"] = "false"  # tests count what is converted
        variables.update(env)
        variables["XPROF_HUB_PORT"] = str(port)
        variables["XPROF_HUB_HOST"] = host
        command: list[str | Path] = [*through, Path(sys.executable).parent / "xprof-hub", "serve"]
        if only:
            command += ["--only", only]
        process = Process.start(name, command, folder / "log", env=variables)
        prefix = "" if only == "worker" else env.get("XPROF_HUB_PATH_PREFIX", "").rstrip("/")
        hub = HubProcess(f"http://{host}:{port}{prefix}", process)
        self._started.append(hub)
        process.wait_for(lambda: http_status(f"{hub.url}/readyz") == 200, seconds=150)
        return hub

    def stop_all(self) -> None:
        """Ends every hub that still runs."""
        for hub in reversed(self._started):
            hub.stop()


def post(url: str, body: Mapping[str, object]) -> dict[str, object]:
    """POSTs JSON and returns the answer's JSON; a non-2xx answer raises with its body as a note."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            answer: dict[str, object] = json.load(response)
            return answer
    except urllib.error.HTTPError as error:
        error.add_note(error.read().decode(errors="replace"))
        raise


def share(hub_url: str, run: str, session: str, location: str | Path) -> str:
    """Creates a run, attaches the session at `location`, and returns a new link to it."""
    runs = f"{hub_url}/v1/machineLearningRuns"
    run_path = urllib.parse.quote(run, safe="")
    session_path = urllib.parse.quote(session, safe="")
    post(f"{runs}?machineLearningRunId={run_path}", {"displayName": run})
    post(
        f"{runs}/{run_path}/profilerSessions?profilerSessionId={session_path}",
        {"storageFolderUri": str(location)},
    )
    answer = post(f"{runs}/{run_path}/profilerSessions/{session_path}/shareLinks", {})
    return str(answer["uri"])


@dataclass(frozen=True)
class DemoHub:
    """A hub on one machine with one shared session.

    Attributes:
        url: the hub's address, with path prefix.
        link: link to the session.
        session: the session's folder.
    """

    url: str
    link: str
    session: Path


@pytest.fixture
def hubs(tmp_path: Path) -> Iterator[HubFactory]:
    """Starts hubs for one test."""
    factory = HubFactory(tmp_path)
    yield factory
    factory.stop_all()


@pytest.fixture(scope="session")
def demo_hub(tmp_path_factory: pytest.TempPathFactory, demo_session: Path) -> Iterator[DemoHub]:
    """A hub with the demo's four-host session, for tests that only read."""
    factory = HubFactory(tmp_path_factory.mktemp("demo-hub"))
    hub = factory.start({"XPROF_HUB_STORAGE_ROOTS": str(demo_session)})
    try:
        yield DemoHub(hub.url, share(hub.url, "demo", "four hosts", demo_session), demo_session)
    finally:
        factory.stop_all()


@pytest.fixture(scope="session")
def demo_link(demo_hub: DemoHub) -> str:
    """Link to the demo's session on `demo_hub`."""
    return demo_hub.link


def copy_of(session: Path, destination: Path) -> Path:
    """A copy of a session's profile files, for tests that change them."""
    destination.mkdir(parents=True)
    for path in session.glob("*.xplane.pb"):
        shutil.copyfile(path, destination / path.name)
    return destination
