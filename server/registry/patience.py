"""An end to what a filter may cost: who may ask can ask for hours, for documents may be a megabyte each."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from server.registry.errors import RegistryError, RegistryProblem

SECONDS = 5.0
"""Longest time for one page of a filtered list."""
_STEPS = 50
"""SQLite's own steps between two looks at the clock: few, for one of them may compare a whole document."""


@contextmanager
def patience(session: Session, seconds: float = SECONDS) -> Iterator[None]:
    """Ends the queries of a block that take too long.

    Args:
        session: in a transaction that only reads, and ends with the block or soon after.
        seconds: how long they may take.

    Raises:
        RegistryError: TOO_COSTLY.
    """
    raw = session.connection().connection.dbapi_connection
    local = raw if isinstance(raw, sqlite3.Connection) else None
    end = time.monotonic() + seconds
    try:
        if local is not None:
            local.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
        else:
            session.execute(text(f"SET LOCAL statement_timeout = {int(seconds * 1000)}"))
        yield
    except OperationalError as error:
        if time.monotonic() < end:
            raise
        message = (
            "This filter takes too long here. Ask for fields that are short, or for fewer of them."
        )
        raise RegistryError(RegistryProblem.TOO_COSTLY, message) from error
    finally:
        if local is not None:
            local.set_progress_handler(None, 0)
