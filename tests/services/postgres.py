"""A real PostgreSQL in a temporary directory; every test gets an empty database of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psutil
import psycopg
import pytest
from psycopg import sql

from tests.services.missing import find_program, missing
from tests.services.processes import Account, Process, ServiceError, free_port

INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
"""Debian keeps PostgreSQL's own programs off PATH."""


def server_account() -> Account | None:
    """Who runs the server: PostgreSQL refuses to run as root. None: whoever we are."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return Account(entry.pw_uid, entry.pw_gid)


class PostgresServer:
    """A running server that listens on the loopback interface and trusts everyone there."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs = programs
        self._folder = folder
        self._port = free_port()
        self._process: Process | None = None

    def start(self) -> None:
        """Makes the cluster, unless there is one, and starts it."""
        account = server_account()
        if account:
            os.chown(self._folder, account.user_id, account.group_id)
        data = self._folder / "data"
        if not data.exists():  # a test may have stopped it
            self._make(data, account)
        serve: list[str | Path] = [self._programs / "postgres", "-D", data, "-F"]
        serve += ["-p", str(self._port), "-c", "listen_addresses=127.0.0.1"]
        serve += ["-c", "unix_socket_directories="]
        log = self._folder / "postgres.log"
        self._process = Process.start("postgres", serve, log, account=account)
        self._process.wait_for(self._answers)

    def _make(self, data: Path, account: Account | None) -> None:
        make: list[str | Path] = [self._programs / "initdb", "--pgdata", data]
        make += ["--username", "test", "--auth", "trust"]
        make += ["--encoding", "UTF8", "--locale", "C", "--no-sync"]
        log = self._folder / "initdb.log"
        if Process.start("initdb", make, log, account=account).popen.wait(120):
            raise ServiceError(f"initdb failed:\n{log.read_text()}")

    def stop(self) -> None:
        """Stops it; `start` starts it again with what it holds."""
        if self._process is not None:
            # SIGINT ends open connections, SIGTERM would wait for them.
            self._process.stop(number=signal.SIGINT)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """It neither answers nor ends while this lasts, and takes connections as a frozen machine does."""
        if self._process is None:
            raise ServiceError("this PostgreSQL was not started")
        server = psutil.Process(self._process.popen.pid)
        server.suspend()  # first, so that it starts no other process meanwhile
        frozen = [server, *server.children(recursive=True)]
        for process in frozen:
            process.suspend()
        try:
            yield
        finally:
            for process in frozen:
                process.resume()

    def create_database(self) -> str:
        """A new empty database; returns its SQLAlchemy URL."""
        name = f"test_{uuid4().hex}"
        with psycopg.connect(self._dsn("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return f"postgresql+psycopg://test@127.0.0.1:{self._port}/{name}"

    def _dsn(self, database: str) -> str:
        return f"postgresql://test@127.0.0.1:{self._port}/{database}"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self._dsn("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests."""
    initdb = find_program(["initdb"], INSTALLED)
    if initdb is None:
        missing("PostgreSQL (initdb)", "postgresql")
    # Not below pytest's folder, which only its owner may enter.
    folder = Path(tempfile.mkdtemp(prefix="xprof-hub-postgres-"))
    server = PostgresServer(initdb.resolve().parent, folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """SQLAlchemy URL of an empty database."""
    return postgres_server.create_database()
