"""A real Redis on a loopback port, without persistence: stopped and started again it is empty."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.services.missing import find_program, missing
from tests.services.processes import Process, ServiceError, free_port, port_answers


class RedisServer:
    """A Redis that tests may stop and start.

    Args:
        program: the server's.
        folder: for its log.
        arguments: for its command line, besides the usual ones.

    Attributes:
        url: address for clients; the same after a restart.
        port: that it listens on.
    """

    def __init__(self, program: Path, folder: Path, *arguments: str) -> None:
        self._program = program
        self._folder = folder
        self._arguments = arguments
        self._port = self.port = free_port()
        self._process: Process | None = None
        self.url = f"redis://127.0.0.1:{self._port}/0"

    def start(self) -> None:
        """Starts it, if it does not run, and waits until it answers."""
        if self._process is not None and self._process.running:
            return
        command: list[str | Path] = [self._program, "--port", str(self._port)]
        command += [
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            self._folder,
            *self._arguments,
        ]
        self._process = Process.start("redis-server", command, self._folder / "redis.log")
        self._process.wait_for(lambda: port_answers(self._port))

    def stop(self) -> None:
        """Stops it, if it runs; clients see refused connections from then on."""
        if self._process is not None:
            self._process.stop()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """It neither answers nor ends while this lasts, and takes connections as a frozen machine does."""
        if self._process is None:
            raise ServiceError("this Redis was not started")
        self._process.popen.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.popen.send_signal(signal.SIGCONT)


def redis_program() -> Path:
    """Where the server's program is; skips the test where there is none."""
    program = find_program(["redis-server", "valkey-server"])
    if program is None:
        missing("redis-server", "redis-server")
    return program


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests. A test that stops it starts it again; keys carry digests, so none clash."""
    server = RedisServer(redis_program(), tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()
