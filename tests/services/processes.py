"""Child processes of tests: started with a log file, waited for, and always ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.05


class ServiceError(Exception):
    """A service did not start, or did not stop, in time."""


def free_port() -> int:
    """A TCP port on the loopback interface that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def http_status(url: str) -> int:
    """Status of a GET, also for errors; 0 when nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            status: int = response.status
            return status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def port_answers(port: int) -> bool:
    """Whether something accepts connections on a loopback port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@dataclass(frozen=True)
class Account:
    """An account of the operating system that a child runs under."""

    user_id: int
    group_id: int


@dataclass
class Process:
    """One running child, leader of its own process group.

    Attributes:
        name: for messages.
        popen: the child.
        log: file with its standard output and error.
    """

    name: str
    popen: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str | Path],
        log: Path,
        env: Mapping[str, str] | None = None,
        account: Account | None = None,
    ) -> Process:
        """Starts a command, under another account if need be (root only)."""
        with log.open("ab") as output:
            popen = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else dict(env),
                user=account.user_id if account else None,
                group=account.group_id if account else None,
                extra_groups=[] if account else None,
                cwd="/" if account else None,
                start_new_session=True,
            )
        return cls(name, popen, log)

    @property
    def running(self) -> bool:
        """Whether the child lives."""
        return self.popen.poll() is None

    def wait_for(self, ready: Callable[[], bool], seconds: float = 90.0) -> None:
        """Waits until `ready()`; a child that ends, or time that runs out, raises ServiceError."""
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.running:
                raise ServiceError(
                    f"{self.name} ended with {self.popen.returncode}:\n{self.log_tail()}"
                )
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"{self.name} was not ready in {seconds:.0f} s:\n{self.log_tail()}"
                )
            time.sleep(POLL_SECONDS)

    def stop(self, seconds: float = 45.0, number: signal.Signals = signal.SIGTERM) -> int:
        """Asks the child to end by a signal, kills its group if it doesn't; returns its exit status."""
        if self.running:
            self.popen.send_signal(number)
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return self.kill()
        finally:
            self._kill_group()

    def kill(self) -> int:
        """Kills the child and everything in its process group at once."""
        self._kill_group()
        return self.popen.wait(60)

    def log_text(self) -> str:
        """Everything that the child has printed."""
        return self.log.read_text(errors="replace")

    def log_tail(self, lines: int = 40) -> str:
        """The last lines that the child has printed."""
        return "\n".join(self.log_text().splitlines()[-lines:])

    def _kill_group(self) -> None:
        try:
            os.killpg(self.popen.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # The whole group has ended already.
