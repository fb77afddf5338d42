"""Connections to PostgreSQL on which nobody waits for ever.

A server that stands still, or whose machine has gone, keeps its connections open and says nothing, and the
system finds out after a quarter of an hour. Until then each request would hold a thread, and the front end
would stop with its database. So an answer that does not come ends its connection, and while no new one can be
had, one request at a time tries and the others are told at once. Knows no tables and no queries.
"""

from __future__ import annotations

import threading
import time
from typing import TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow
from sqlalchemy import Engine, PoolProxiedConnection, event
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
from sqlalchemy.pool import ConnectionPoolEntry

_PING_SECONDS = 3.0
"""How long a connection that was idle may take to show that it lives."""
_STATEMENT_SECONDS = 30.0
"""How long one statement may take: more than any of ours does, waiting for others' locks included."""
_TURN_SECONDS = 0.5
"""How long a request waits for another one that tries to connect, after the last one could not."""
_LOOK_SECONDS = 0.1
"""Between two looks at the clock."""
T = TypeVar("T")


class PatientConnection(psycopg.Connection[TupleRow]):
    """A connection that ends when an answer takes too long.

    Attributes:
        patience: seconds for one answer; None for any time, as a migration may take.
    """

    patience: float | None = _STATEMENT_SECONDS

    def wait(
        self, gen: PQGen[T], interval: float = _LOOK_SECONDS, timeout: float | None = None
    ) -> T:
        """See `psycopg.Connection.wait`, which every statement goes through.

        Raises:
            psycopg.OperationalError: nothing came in time; the connection is closed.
        """
        asked = gen if self.patience is None else self._until(gen, self.patience)
        if timeout is None:
            return super().wait(asked, interval)
        return super().wait(asked, interval, timeout)

    def _until(self, gen: PQGen[T], seconds: float) -> PQGen[T]:
        """The same steps, of which none begins after so many seconds without what it waits for."""
        end = time.monotonic() + seconds
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > end:
                    self.pgconn.finish()  # Whatever came later would be the answer to something else.
                    raise psycopg.OperationalError(f"no answer in {seconds:g} seconds")
                wanted = gen.send(ready)
        except StopIteration as done:
            result: T = done.value
            return result


class Dialer:
    """Makes connections; while the last attempt has failed, one request at a time tries.

    Args:
        turn_seconds: how long others wait for that one.
    """

    def __init__(self, turn_seconds: float = _TURN_SECONDS) -> None:
        self._turn_seconds = turn_seconds
        self._turn = threading.Lock()
        self._has_failed = False

    def connect(self, *arguments: str, **named: object) -> PatientConnection:
        """A connection, by what `psycopg.connect` takes.

        Raises:
            psycopg.OperationalError: there is none, or another request is still trying.
        """
        if not self._has_failed:
            return self._try(*arguments, **named)
        if not self._turn.acquire(timeout=self._turn_seconds):
            raise psycopg.OperationalError("the database did not answer when it was asked last")
        try:
            return self._try(*arguments, **named)
        finally:
            self._turn.release()

    def _try(self, *arguments: str, **named: object) -> PatientConnection:
        try:
            made = PatientConnection.connect(*arguments, **named)  # type: ignore[arg-type]
        except psycopg.Error:
            self._has_failed = True
            raise
        self._has_failed = False
        return made


def be_patient(engine: Engine) -> None:
    """Has an engine's pool make such connections; to be called before it is used."""
    dialer = Dialer()

    def connect(
        _dialect: Dialect,
        _entry: ConnectionPoolEntry,
        arguments: tuple[str, ...],
        named: dict[str, object],
    ) -> PatientConnection:
        return dialer.connect(*arguments, **named)

    def take(
        connection: DBAPIConnection, _entry: ConnectionPoolEntry, _proxy: PoolProxiedConnection
    ) -> None:
        _set_patience(connection, _STATEMENT_SECONDS)

    def give_back(connection: DBAPIConnection | None, _entry: ConnectionPoolEntry) -> None:
        # The pool's ping comes first when it is taken again.
        _set_patience(connection, _PING_SECONDS)

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkout", take)
    event.listen(engine, "checkin", give_back)


def take_any_time(connection: DBAPIConnection | None) -> None:
    """Lets the statements of a connection take as long as they want, until it is given back."""
    _set_patience(connection, None)


def _set_patience(connection: DBAPIConnection | None, seconds: float | None) -> None:
    if isinstance(connection, PatientConnection):
        connection.patience = seconds
