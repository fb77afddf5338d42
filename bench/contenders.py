"""The servers under comparison, started on a copy of the same session each.

A second one in the same folder finds the copy and what the first has left to all that come after it: XProf
the files beside the profile, XProf Hub its shared artifacts, but none of its results.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from server.client import HubClient
from server.links.schemas import NewLink
from server.machine.listening import listen
from server.schemas import Run, Session

RUN = "bench"
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0


class Contender(Protocol):
    """A server with the session."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    @property
    def base(self) -> str:
        """Address of the session's XProf, up to and with `/data/plugin/profile`."""

    def conversions(self) -> int:
        """Runs of the engine so far."""

    def parent_megabytes(self) -> float:
        """Most resident memory so far of the process that has the conversions made."""

    def stop(self) -> None:
        """Ends it."""


class XprofServer:
    """`xprof server` on a log directory."""

    name = "xprof"

    def __init__(self, session: Path, folder: Path) -> None:
        logs = folder / "logs"
        copy_session(session, logs / "plugins" / "profile" / RUN)
        port, grpc_port = free_port(), free_port()
        self.base = f"http://127.0.0.1:{port}/data/plugin/profile"
        self._log = folder / "xprof.log"
        command = [str(program("xprof")), "server", f"--logdir={logs}", f"--port={port}"]
        command.append(f"--grpc_port={grpc_port}")
        self._process = start_process(command, self._log)
        wait_for(f"{self.base}/version", self._process, self._log)

    def conversions(self) -> int:
        """Requests that reached the engine, by its log; it logs each once when it begins."""
        return self._log.read_text(errors="replace").count("using ProfileProcessor")

    def parent_megabytes(self) -> float:
        """Of the only process: it converts itself."""
        return peak_megabytes(self._process.pid)

    def stop(self) -> None:
        """Ends it."""
        stop_process(self._process)


class Hub:
    """`xprof-hub serve`, front end and worker as two processes, with everything else embedded.

    It converts nothing ahead of a request, and nothing twice to compare engines: that would be counted, too.
    """

    name = "XProf Hub"
    engine = "xprof"

    def __init__(self, session: Path, folder: Path) -> None:
        copied = folder / "session"
        copy_session(session, copied)
        data = Path(tempfile.mkdtemp(prefix="hub-", dir=folder))
        worker_port, port = free_port(), free_port()
        self._worker = f"http://127.0.0.1:{worker_port}"
        settings = {
            "XPROF_HUB_DATA_DIR": str(data / "data"),
            "XPROF_HUB_CACHE_ROOT": str(folder / "artifacts"),
            "XPROF_HUB_STORAGE_ROOTS": str(copied),
            "XPROF_HUB_ENGINE": self.engine,
            "XPROF_HUB_SHADOW_FRACTION": "0",
            "XPROF_HUB_PREWARM": "false",
            "XPROF_HUB_SECRET_KEY": secrets.token_urlsafe(32),
            "XPROF_HUB_WORKERS": self._worker,
            "XPROF_HUB_LOG_LEVEL": "warning",
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        for only, listens in (("worker", worker_port), ("front", port)):
            log = data / f"{only}.log"
            command = [str(program("xprof-hub")), "serve", "--only", only, "--port", str(listens)]
            process = start_process(command, log, settings)
            self._processes.append(process)
            wait_for(f"http://127.0.0.1:{listens}/readyz", process, log)
        with HubClient(f"http://127.0.0.1:{port}") as client:
            client.runs.create(Run(display_name="Bench"), RUN)
            client.sessions.attach(RUN, Session(storage_folder_uri=str(copied)), RUN)
            link = client.links.create(RUN, RUN, NewLink()).uri
        self.base = f"{link}/data/plugin/profile"

    def conversions(self) -> int:
        """Runs of the engine, by the worker's metrics."""
        with urllib.request.urlopen(f"{self._worker}/metrics", timeout=10) as response:
            text = response.read().decode()
        counts = re.findall(r"^xprof_hub_conversions_total\{[^}]*\} (\S+)$", text, re.MULTILINE)
        return int(sum(map(float, counts)))

    def parent_megabytes(self) -> float:
        """Of the worker's own process; conversions run in its children."""
        return peak_megabytes(self._processes[0].pid)

    def stop(self) -> None:
        """Ends both processes."""
        for process in reversed(self._processes):
            stop_process(process)


class FastHub(Hub):
    """The same with the fast engine for the tools that it serves."""

    name = "XProf Hub, fast"
    engine = "fast"

    @staticmethod
    def is_installed() -> bool:
        """Whether the engine's package is there."""
        return program("xprof-rs").exists()


def peak_megabytes(pid: int) -> float:
    """Most memory that a live process has had resident (Linux: VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def copy_session(session: Path, destination: Path) -> None:
    """Copies the profile files, and nothing that an earlier conversion left beside them; once."""
    if destination.exists():
        return
    destination.mkdir(parents=True)
    for path in session.glob("*.xplane.pb"):
        shutil.copyfile(path, destination / path.name)


def program(name: str) -> Path:
    """A program of the environment that runs the bench."""
    return Path(sys.executable).parent / name


def free_port() -> int:
    """A loopback port that nobody listens on right now."""
    with listen("127.0.0.1", 0) as listener:
        port: int = listener.getsockname()[1]
        return port


def start_process(
    command: Sequence[str], log: Path, settings: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts a server without the settings of whoever runs the bench."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("XPROF_HUB_")
    }
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            env=environment | dict(settings or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until a server answers at this address.

    Raises:
        SystemExit: it has ended, or does not in time; with the end of its log.
    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    stop_process(process)
    raise SystemExit(f"{process.args!r} did not start:\n{log.read_text(errors='replace')[-4000:]}")


def stop_process(process: subprocess.Popen[bytes]) -> None:
    """Ends a server in good order, or else at once."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
