"""A real worker with small limits, in a place where everything that it must not touch is watched."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil
import zstandard

from loader.caches.results import read_header
from loader.engine.base import EngineName, OptionValue
from loader.engine.sandbox import FIRST_UID
from loader.tools import OWN_TOOLS, TOOLS, HostSupport, canonical_options
from server.fleet.protocol import TOOL_DATA_PATH, worker_credential
from tests.services.processes import Process, free_port, http_status

HOST = "vm"
FILE = f"{HOST}.xplane.pb"
SECRET = "of the fuzzed worker"
SECONDS = 6.0
_SETTINGS = {
    "XPROF_HUB_CONVERSION_SECONDS": str(SECONDS),
    "XPROF_HUB_CONVERSION_MEMORY_BYTES": str(2 << 30),
    "XPROF_HUB_MEMORY_BYTES": str(16 << 30),
    "XPROF_HUB_CACHE_BYTES": str(64 << 20),
    "XPROF_HUB_ARTIFACT_BYTES": str(64 << 20),
    "XPROF_HUB_SCRATCH_BYTES": str(64 << 20),
    "XPROF_HUB_LOG_LEVEL": "warning",
}
_LONG_AGO = 1_700_000_000
"""When profiles were written, for the worker: a new one might still be on its way."""
_CONVERSION_UIDS = range(FIRST_UID, FIRST_UID + 64)
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Reply:
    """What the worker answered.

    Attributes:
        tool: that was asked for.
        code: `ok`, or the error's code.
        message: the error's sentence, empty when there is none.
        file: the file that the error is about, by its name.
        content_type: of the answer.
        body: the answer's bytes, decompressed.
    """

    tool: str
    code: str
    message: str = ""
    file: str | None = None
    content_type: str = ""
    body: bytes = b""


class Arena:
    """The worker and its surroundings, below one folder."""

    def __init__(self, folder: Path, engine: EngineName = "xprof") -> None:
        self.folder = folder
        self._engine = engine
        self.profiles = folder / "profiles"
        self.data = folder / "data"
        self._canaries = folder / "canaries"
        self._before: dict[str, tuple[object, ...]] = {}
        self._port = free_port()
        self._process: Process | None = None
        self._zygote = 0
        headers = {"Authorization": f"Bearer {worker_credential(SECRET)}"}
        url = f"http://127.0.0.1:{self._port}"
        # A request may wait for others of its case, each up to the limit.
        self._client = httpx2.Client(base_url=url, headers=headers, timeout=300, trust_env=False)

    def __enter__(self) -> Arena:
        """Lays everything out and starts the worker."""
        self._lay_out()
        root = str(Path(__file__).parents[3])
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": root}
        environment |= _SETTINGS | {
            "XPROF_HUB_DATA_DIR": str(self.data),
            "XPROF_HUB_STORAGE_ROOTS": str(self.profiles),
            "XPROF_HUB_SECRET_KEY": SECRET,
            "XPROF_HUB_PORT": str(self._port),
            "XPROF_HUB_ENGINE": self._engine,
        }
        command: list[str | Path] = [Path(sys.executable).parent / "xprof-hub"]
        command += ["serve", "--only", "worker"]
        log = self.folder / "worker.log"
        self._process = Process.start("worker", command, log, env=environment)
        ready = f"http://127.0.0.1:{self._port}/readyz"
        self._process.wait_for(lambda: http_status(ready) == 200, seconds=60)
        self._zygote = self._zygote_now()
        self._before = self._canary_states()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the worker."""
        self._client.close()
        if self._process is not None:
            self._process.stop()

    def _lay_out(self) -> None:
        self.folder.chmod(0o755)
        self.profiles.mkdir()
        for name, mode in (("everyone", 0o777), ("private", 0o700), ("open", 0o755)):
            place = self._canaries / name
            place.mkdir(parents=True)
            (place / "canary").write_text(name)
            place.chmod(mode)
        (self._canaries / "writable").write_text("by all")
        (self._canaries / "writable").chmod(0o666)

    def place(self, name: str, data: bytes) -> str:
        """Makes a session of one host; gives its location."""
        session = self.profiles / name
        session.mkdir()
        (session / FILE).write_bytes(data)
        os.utime(session / FILE, (_LONG_AGO, _LONG_AGO))
        return str(session)

    def remove(self, location: str) -> None:
        """Removes a session."""
        shutil.rmtree(location)

    def ask(self, location: str, tool: str, query: Mapping[str, str] | None = None) -> Reply:
        """One question, as a front end asks it."""
        row = OWN_TOOLS.get(tool) or TOOLS[tool]
        hosts: Sequence[str] | None = None if row.hosts is HostSupport.ALL_ONLY else [HOST]
        options: dict[str, OptionValue] = canonical_options(row, query or {})
        body = {"locations": [location], "tool": tool, "hosts": hosts, "options": options}
        answer = self._client.post(TOOL_DATA_PATH, json={**body, "as_csv": False})
        if answer.status_code == 200:
            return _unpacked(tool, answer.content)
        try:
            said = answer.json()
            return Reply(tool, str(said["code"]), str(said["message"]), said["file"])
        except (ValueError, KeyError):
            return Reply(tool, f"status {answer.status_code}", answer.text[:500])

    def problems(self) -> list[str]:
        """What is wrong with the worker or around it, between two cases."""
        found = []
        if self._process is None or not self._process.running:
            return [f"the worker has ended:\n{self.log_tail()}"]
        if self._zygote_now() != self._zygote:
            found.append("the zygote has ended")
            self._zygote = self._zygote_now()
        now = self._canary_states()
        changed = sorted(
            name
            for name in now.keys() | self._before.keys()
            if now.get(name) != self._before.get(name)
        )
        found += [f"changed outside the scratch: {name}" for name in changed]
        self._before = now
        return found + self._left_behind()

    def log_tail(self) -> str:
        """The end of what the worker has logged."""
        return "" if self._process is None else self._process.log_tail(30)

    def worker_megabytes(self) -> float:
        """Resident size of the worker's own process."""
        if self._process is None:
            return 0.0
        return float(psutil.Process(self._process.popen.pid).memory_info().rss / 1e6)

    def _zygote_now(self) -> int:
        assert self._process is not None
        for child in psutil.Process(self._process.popen.pid).children():
            if "loader.engine.zygote" in child.cmdline():
                return int(child.pid)
        return 0

    def _left_behind(self) -> list[str]:
        """Job directories and children that are still there a while after the last answer."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            jobs = [path.name for path in (self.data / "scratch" / "jobs").iterdir()]
            children = psutil.Process(self._zygote).children() if self._zygote else []
            if not jobs and not children:
                return []
            if time.monotonic() > end:
                return [f"left behind: jobs {jobs}, children {[child.pid for child in children]}"]
            time.sleep(0.02)

    def _canary_states(self) -> dict[str, tuple[object, ...]]:
        """Everything that no conversion may touch, with its state."""
        states = {}
        watched = [*self._canaries.rglob("*"), *self.folder.iterdir(), *self.data.iterdir()]
        for path in [self._canaries, *watched, *self.profiles.rglob("*")]:
            if self.profiles in path.parents and path.parent != self.profiles:
                continue  # the case's own session, which is made and removed by us
            status = path.lstat()
            owned = (status.st_uid, status.st_gid, status.st_mode)
            is_file = stat.S_ISREG(status.st_mode) and self._canaries in path.parents
            content = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else ""
            times = (status.st_mtime_ns,) if self._canaries in path.parents else ()
            states[str(path.relative_to(self.folder))] = (*owned, content, *times)
        for foreign in self._foreign():
            states[foreign] = ("owned by a conversion",)
        return states

    @staticmethod
    def _foreign() -> list[str]:
        """Files of conversions in the machine's folders that everybody may write in; of root only."""
        if os.geteuid() != 0:
            return []
        found = []
        for folder in ("/tmp", "/var/tmp", "/dev/shm"):
            for entry in os.scandir(folder) if Path(folder).is_dir() else ():
                try:
                    if entry.stat(follow_symlinks=False).st_uid in _CONVERSION_UIDS:
                        found.append(entry.path)
                except FileNotFoundError:
                    continue  # somebody else's file that is gone
        return found


def _unpacked(tool: str, content: bytes) -> Reply:
    source = io.BytesIO(content)
    header = read_header(source)
    body = zstandard.ZstdDecompressor().stream_reader(source).read() if header.size else b""
    if len(body) != header.raw_size:
        raise ValueError(f"{tool}: {len(body)} bytes instead of {header.raw_size}")
    return Reply(tool, "ok", content_type=header.content_type, body=body)


def decoded(reply: Reply) -> object:
    """The answer as a value that can be compared."""
    return json.loads(reply.body) if reply.content_type == "application/json" else reply.body
