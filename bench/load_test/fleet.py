"""The hub under load: Redis, one front end and workers, as processes of their own on loopback ports.

The registry is SQLite: there is one front end, and PostgreSQL's processes would take time of the few cores
that is to be measured. The front end knows the addresses of all workers that there may ever be; those that
are not up are passed over, as those of lost machines are.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.contenders import free_port, program, start_process, stop_process, wait_for

REGISTRY = "registry.sqlite"
_MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What the hub may keep, in bytes; small, so that a test of minutes reaches it.

    Attributes:
        redis: of results in Redis.
        results: of results on each process's disk.
        scratch: of downloaded profiles on each worker's disk.
        artifacts: of artifacts that workers share.
    """

    redis: int = 256 * _MEBIBYTE
    results: int = 64 * _MEBIBYTE
    scratch: int = 64 * _MEBIBYTE
    artifacts: int = 512 * _MEBIBYTE


@dataclass
class Fleet:
    """Processes of one hub.

    Attributes:
        folder: where all of them keep what they keep.
        sessions: folder with the profiles.
        addresses: of workers that there may be at most.
        converts_ahead: whether new sessions are converted in advance.
        limits: of what they keep.
    """

    folder: Path
    sessions: Path
    addresses: int
    converts_ahead: bool = True
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._secret = secrets.token_urlsafe(32)
        self._redis_port, self._front_port = free_port(), free_port()
        self._worker_ports = [free_port() for _ in range(self.addresses)]
        self._starts = 0
        self.redis: subprocess.Popen[bytes] | None = None
        self.front: subprocess.Popen[bytes] | None = None
        self.workers: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        """Address of the front end."""
        return f"http://127.0.0.1:{self._front_port}"

    @property
    def redis_url(self) -> str:
        """Address of Redis."""
        return f"redis://127.0.0.1:{self._redis_port}/0"

    @property
    def registry(self) -> Path:
        """The database's file."""
        return self.folder / REGISTRY

    def worker_url(self, number: int) -> str:
        """Address of a worker, up or not."""
        return f"http://127.0.0.1:{self._worker_ports[number]}"

    def data_folder(self, name: str) -> Path:
        """What a process keeps: `front`, or `worker-0` and so on."""
        return self.folder / name

    def processes(self) -> dict[str, subprocess.Popen[bytes]]:
        """All that run, by name."""
        named = {"redis": self.redis, "front": self.front}
        found = {name: process for name, process in named.items() if process is not None}
        return found | {f"worker-{number}": one for number, one in sorted(self.workers.items())}

    def start(self, workers: int) -> None:
        """Starts everything, with the first so many workers.

        Raises:
            SystemExit: a process does not start, or Redis is not installed.
        """
        self._start_redis()
        for number in range(workers):
            self.start_worker(number, is_awaited=False)
        self.front = self._start("front", self._front_port)
        for number in self.workers:
            self._await(f"worker-{number}")
        self._await("front")

    def start_worker(self, number: int, is_awaited: bool = True) -> None:
        """Starts a worker at its address, after another one was there or as a new one."""
        self.workers[number] = self._start(f"worker-{number}", self._worker_ports[number])
        if is_awaited:
            self._await(f"worker-{number}")

    def kill_worker(self, number: int) -> None:
        """Ends a worker as a lost machine does, its children too (they are children of its own)."""
        process = self.workers.pop(number)
        process.kill()
        process.wait()

    def end_worker(self, number: int) -> int:
        """Tells a worker to end and waits for it; its exit status."""
        process = self.workers.pop(number)
        process.send_signal(signal.SIGTERM)
        return process.wait(60)

    def stop(self) -> None:
        """Ends everything."""
        for process in reversed(self.processes().values()):
            stop_process(process)
        self.workers.clear()
        self.front = self.redis = None

    def _start_redis(self) -> None:
        redis = shutil.which("redis-server") or shutil.which("valkey-server")
        if redis is None:
            raise SystemExit("The load test needs redis-server (Debian: apt install redis-server).")
        command = [redis, "--port", str(self._redis_port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--appendonly", "no", "--dir", str(self.folder)]
        command += ["--maxmemory", str(self.limits.redis), "--maxmemory-policy", "volatile-lru"]
        self.redis = start_process(command, self.folder / "redis.log")

    def _start(self, name: str, port: int) -> subprocess.Popen[bytes]:
        self._starts += 1
        only = name.partition("-")[0]
        command = [str(program("xprof-hub")), "serve", "--only", only, "--port", str(port)]
        log = self.folder / f"{self._starts:02}-{name}.log"
        return start_process(command, log, self._settings(name))

    def _await(self, name: str) -> None:
        process = self.processes()[name]
        url = self.url if name == "front" else self.worker_url(int(name.partition("-")[2]))
        (log,) = sorted(self.folder.glob(f"*-{name}.log"))[-1:]
        wait_for(f"{url}/readyz", process, log)

    def _settings(self, name: str) -> Mapping[str, str]:
        """Limits of requests are off, for all people have the same address here."""
        return {
            "XPROF_HUB_DATA_DIR": str(self.data_folder(name)),
            "XPROF_HUB_CACHE_ROOT": str(self.folder / "artifacts"),
            "XPROF_HUB_STORAGE_ROOTS": str(self.sessions),
            "XPROF_HUB_DATABASE_URL": f"sqlite:///{self.registry}",
            "XPROF_HUB_REDIS_URL": self.redis_url,
            "XPROF_HUB_WORKERS": ",".join(map(self.worker_url, range(self.addresses))),
            "XPROF_HUB_SECRET_KEY": self._secret,
            "XPROF_HUB_PREWARM": str(self.converts_ahead).lower(),
            "XPROF_HUB_CONVERSIONS": "1",
            "XPROF_HUB_ADDRESS_REQUESTS": "0",
            "XPROF_HUB_LINK_REQUESTS": "0",
            "XPROF_HUB_SCAN_SECONDS": "0",
            "XPROF_HUB_CACHE_BYTES": str(self.limits.results),
            "XPROF_HUB_SCRATCH_BYTES": str(self.limits.scratch),
            "XPROF_HUB_ARTIFACT_BYTES": str(self.limits.artifacts),
            "XPROF_HUB_LOG_LEVEL": "warning",
        }
