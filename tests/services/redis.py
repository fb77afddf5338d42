"""A real Redis on a loopback port, without persistence: stopped and started again it is empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.missing import find_program, missing
from tests.services.processes import Process, free_port, port_answers


class RedisServer:
    """A Redis that tests may stop and start.

    Attributes:
        url: address for clients; the same after a restart.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._port = free_port()
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
        ]
        self._process = Process.start("redis-server", command, self._folder / "redis.log")
        self._process.wait_for(lambda: port_answers(self._port))

    def stop(self) -> None:
        """Stops it, if it runs; clients see refused connections from then on."""
        if self._process is not None:
            self._process.stop()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests. A test that stops it starts it again; keys carry digests, so none clash."""
    program = find_program(["redis-server", "valkey-server"])
    if program is None:
        missing("redis-server", "redis-server")
    server = RedisServer(program, tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()
