"""The connection to the registry's database: SQLite on one machine, PostgreSQL in production.

Everything that differs between the two stands here; the queries in this package know only SQLAlchemy.
"""

from __future__ import annotations

import fcntl
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from auth.tokens import redact
from server.registry.errors import RegistryUnusableError
from server.registry.json_values import PLAIN_NUMBER, plain_number

BUSY_SECONDS = 10
"""How long a writer waits for another one, and a request for a connection."""
_MIGRATION_LOCK = 0x78_70_72_6F_66
"""Key of the PostgreSQL advisory lock that only one migrating process holds."""


class Database:
    """A pool of connections, and the transactions on it. Safe to share between threads."""

    def __init__(self, url: str) -> None:
        """Opens nothing yet.

        Args:
            url: `sqlite:///path` or `postgresql://user:password@host/database`.

        Raises:
            ValueError: the URL names another kind of database, or SQLite without a file.
        """
        self._url = _checked_url(url)
        self._engine = _engine(self._url)
        self._writer = self._engine.execution_options(registry_writes=True)
        # SQLite lets one write, and others ask again and again; those of one process wait for their turn.
        self._turn = threading.Lock() if self.dialect == "sqlite" else nullcontext()

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that reads."""
        with Session(self._engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that writes: committed at the end, rolled back when the block raises."""
        with (
            self._turn,
            Session(self._writer, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    def ping(self) -> None:
        """Asks the database for nothing.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: it doesn't answer.
        """
        with self._engine.connect() as connection:
            connection.execute(text("SELECT 1"))

    def migrate(self) -> None:
        """Brings the tables to the state that this version needs; several processes may do so at once.

        Raises:
            RegistryUnusableError: a newer XProf Hub made this database, or it can't be reached or used.
        """
        try:
            self._migrate()
        except SQLAlchemyError as problem:
            reason = redact(str(problem).splitlines()[0])
            raise RegistryUnusableError(
                f"XPROF_HUB_DATABASE_URL: the database can't be used: {reason}"
            ) from problem

    def close(self) -> None:
        """Closes idle connections."""
        self._engine.dispose()

    def _migrate(self) -> None:
        lock = _file_lock(self._url) if self.dialect == "sqlite" else _no_lock()
        with lock:
            if self.dialect == "sqlite":
                self._use_write_ahead_log()
            with self._writer.begin() as connection:
                if self.dialect == "postgresql":
                    connection.execute(
                        text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK}
                    )
                _upgrade(connection)

    def _use_write_ahead_log(self) -> None:
        """Switches the file to WAL for good, so that readers and a writer don't wait for each other."""
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode=WAL")
        finally:
            connection.close()


def _checked_url(text_url: str) -> URL:
    try:
        url = make_url(text_url)
    except ArgumentError as error:
        # The library's message repeats the text, which may hold a password.
        raise ValueError("XPROF_HUB_DATABASE_URL is not an address of a database.") from error
    backend = url.get_backend_name()
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise ValueError(f"XPROF_HUB_DATABASE_URL must be sqlite or postgresql, not {backend}.")
    if url.database in (None, "", ":memory:"):
        raise ValueError(
            "XPROF_HUB_DATABASE_URL must name a file, as in sqlite:////data/hub.sqlite."
        )
    return url.set(drivername="sqlite+pysqlite")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "postgresql":
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=10,
            max_overflow=20,
            pool_timeout=BUSY_SECONDS,
            connect_args={"connect_timeout": BUSY_SECONDS},
        )
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, pool_timeout=BUSY_SECONDS)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    """Makes SQLite keep foreign keys and know numbers in texts, and leaves beginning a transaction to us."""
    assert isinstance(connection, sqlite3.Connection)  # noqa: S101 - the only driver that is asked for
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.create_function(PLAIN_NUMBER, 1, plain_number, deterministic=True)


def _begin_sqlite(connection: Connection) -> None:
    """Takes the write lock at once where writing is meant.

    A transaction that reads first and writes later can't wait for another writer in SQLite; it fails.
    """
    writes = connection.get_execution_options().get("registry_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _file_lock(url: URL) -> Iterator[None]:
    """Holds a lock beside the SQLite file; the switch to WAL doesn't wait for others by itself."""
    path = Path(url.database or "")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def _no_lock() -> Iterator[None]:
    yield


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", "server.registry:migrations")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise RegistryUnusableError(
            "The registry's database was made by a newer XProf Hub than this one. "
            "Run that version, or point XPROF_HUB_DATABASE_URL at another database."
        ) from error
