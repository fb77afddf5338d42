"""The connection to the registry's database: SQLite on one machine, PostgreSQL in production.

Everything that differs between the two stands here; the queries in this package know only SQLAlchemy.
"""

from __future__ import annotations

import fcntl
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from auth.tokens import redact
from server.registry.errors import DatabaseUnreachableError, RegistryUnusableError
from server.registry.json_values import PLAIN_NUMBER, plain_number
from server.registry.postgres_connections import be_patient, take_any_time
from server.registry.versions import (
    DatabaseVersion,
    Standing,
    read_version,
    upgrade,
    version_of_nothing,
)
from server.tracing.notes import timed

BUSY_SECONDS = 10
"""How long a writer waits for another one, and a request for a connection."""
_CONNECT_SECONDS = 5
"""How long PostgreSQL may take to accept a connection."""
_MIGRATION_LOCK = 0x78_70_72_6F_66
"""Key of the PostgreSQL advisory lock that only one migrating process holds."""
_TABLE_SECONDS = 2
"""How long a migration waits for a table: whoever comes after it waits too, readers also."""
_PAUSE_SECONDS = 1.0
"""Between two tries, so that those go on who have waited behind it."""
_PATIENCE_SECONDS = 120.0
"""How long it tries again."""
_TABLE_IN_USE = frozenset({"55P03", "40P01"})
"""PostgreSQL's codes for a lock that was not to be had in time, and for two who waited for each other."""


class Database:
    """A pool of connections, and the transactions on it. Safe to share between threads."""

    def __init__(self, url: str, connections: int = 30) -> None:
        """Opens nothing yet.

        Args:
            url: `sqlite:///path` or `postgresql://user:password@host/database`.
            connections: most connections to PostgreSQL at once; a third of them stays open.

        Raises:
            ValueError: the URL names another kind of database, or SQLite without a file.
        """
        self._url = _checked_url(url)
        self._engine = _engine(self._url, connections)
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
        with timed("database"), Session(self._engine) as session:
            yield session

    @contextmanager
    def reading_columns(self) -> Iterator[Connection]:
        """A transaction that reads plain columns, for what is asked at every request: no object is made."""
        with timed("database"), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that writes: committed at the end, rolled back when the block raises."""
        with (
            timed("database"),
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

    def make_ready(self, *, may_migrate: bool) -> None:
        """Sees to it that the tables are in a state that this version can work on.

        Args:
            may_migrate: whether to bring them to it; otherwise `xprof-hub migrate` has to.

        Raises:
            RegistryUnusableError: they aren't, or as `migrate`.
        """
        if may_migrate:
            self.migrate()
            return
        version = self.version()
        if version.standing is Standing.BEHIND:
            raise RegistryUnusableError(
                f"The registry's database is at version {version.found or '0000'}, and this XProf Hub needs "
                f"{version.needed}. Run `xprof-hub migrate`, or set XPROF_HUB_MIGRATE=true."
            )
        _refuse_too_new(version)

    def version(self) -> DatabaseVersion:
        """What state the tables are in; changes nothing.

        Raises:
            DatabaseUnreachableError: the database can't be reached or used.
        """
        if self.dialect == "sqlite" and not _file_of(self._url).exists():
            return version_of_nothing()
        with _failures_in_words(), self._engine.connect() as connection:
            return read_version(connection)

    def migrate(self) -> DatabaseVersion:
        """Brings the tables to the state that this version needs; several processes may do so at once.

        Tables that a newer version has changed stay as they are, if it says that this one can go on.

        Returns:
            what was found before.

        Raises:
            RegistryUnusableError: a newer XProf Hub made this database, or its tables stay in use.
            DatabaseUnreachableError: it can't be reached or used.
        """
        with _failures_in_words(), self._alone():
            with self._engine.connect() as connection:
                before = version = read_version(connection)
            while version.standing is Standing.BEHIND:
                version = self._step_patiently()
        _refuse_too_new(version)
        return before

    def close(self) -> None:
        """Closes idle connections."""
        self._engine.dispose()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """On SQLite, the only process that migrates; on PostgreSQL each step sees to that itself."""
        if self.dialect == "postgresql":
            yield
            return
        with _file_lock(self._url):
            self._use_write_ahead_log()
            yield

    def _step_patiently(self) -> DatabaseVersion:
        """One step, tried again while others use its tables; the state that it leads to.

        A running hub's transactions take milliseconds. One that takes longer, such as a dump, would hold up
        the migration, and that all others: so it gives way again and again instead.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self._step()
            except OperationalError as problem:
                if getattr(problem.orig, "sqlstate", None) not in _TABLE_IN_USE:
                    raise
                if time.monotonic() > end:
                    raise RegistryUnusableError(
                        "The registry's tables can't be changed, because other transactions use them for "
                        "minutes. Nothing was changed: migrate again when they have ended; pg_stat_activity "
                        "shows them."
                    ) from problem
            time.sleep(_PAUSE_SECONDS)

    def _step(self) -> DatabaseVersion:
        """One migration in a transaction of its own, so that it keeps tables for a short time only."""
        with self._writer.begin() as connection:
            if self.dialect == "postgresql":
                take_any_time(connection.connection.dbapi_connection)
                connection.execute(
                    text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK}
                )
                connection.execute(text(f"SET LOCAL lock_timeout = '{_TABLE_SECONDS}s'"))
            version = read_version(connection)
            if version.standing is not Standing.BEHIND:
                return version
            # Nobody uses the tables of an empty database.
            upgrade(connection, "head" if version.found is None else "+1")
            return read_version(connection)

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


def _engine(url: URL, connections: int) -> Engine:
    if url.get_backend_name() == "postgresql":
        kept = max(1, connections // 3)
        engine = create_engine(
            url,
            pool_pre_ping=True,
            pool_size=kept,
            max_overflow=connections - kept,
            pool_timeout=BUSY_SECONDS,
            connect_args={"connect_timeout": _CONNECT_SECONDS},
        )
        be_patient(engine)
        return engine
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
    path = _file_of(url)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with path.with_name(f"{path.name}.lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _file_of(url: URL) -> Path:
    """Where SQLite's file is."""
    return Path(url.database or "")


@contextmanager
def _failures_in_words() -> Iterator[None]:
    """Turns what the driver raises into a sentence without the address's password."""
    try:
        yield
    except SQLAlchemyError as problem:
        reason = redact(str(problem).splitlines()[0])
        raise DatabaseUnreachableError(
            f"XPROF_HUB_DATABASE_URL: the database can't be used: {reason}"
        ) from problem


def _refuse_too_new(version: DatabaseVersion) -> None:
    if version.standing is Standing.TOO_NEW:
        raise RegistryUnusableError(
            "The registry's database was made by a newer XProf Hub than this one "
            f"(version {version.found}; this one needs {version.needed}). "
            "Run that version, or point XPROF_HUB_DATABASE_URL at another database."
        )
