"""Whether a front end is to be given requests: from when its database has answered once, until it ends.

A database that goes later takes nobody's front end away. All front ends miss it in the same moment, so a
balancer that dropped them would have nobody left, and people would read its bare 503 in place of our page,
which says what is the matter and comes back by itself. Only what watches the hub is told.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from fastapi import Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

OK = "ok"
DATABASE_AWAY = "database"
"""What `/readyz` says when the database does not answer: with 503 until it has, later with 200."""
_PATIENCE_SECONDS = 1.0
"""Less than any probe allows; a database that stands still is found out later than that."""
_SILENT = "TimeoutError"
logger = logging.getLogger(__name__)


class Pinged(Protocol):
    """A database, as far as it matters here."""

    def ping(self) -> None:
        """Asks it for nothing; blocks, and raises when it doesn't answer."""


class FrontReadiness:
    """Asks the database whenever somebody asks for the front end; for one event loop.

    Args:
        database: what a front end can't begin without.
        patience: seconds that an answer waits for it.
    """

    def __init__(self, database: Pinged, patience: float = _PATIENCE_SECONDS) -> None:
        self._database = database
        self._patience = patience
        self._asking: asyncio.Task[None] | None = None
        self._was_ready = False
        self._is_away = False

    async def answer(self) -> Response:
        """200 with the status `ok`, or `database` if it once was; 503 with `database` before."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(run_in_threadpool(self._database.ping))
            self._asking.add_done_callback(_problem_of)
        # One for all who ask meanwhile: strangers may do so, as often as they like.
        asking = self._asking
        await asyncio.wait({asking}, timeout=self._patience)
        problem = _problem_of(asking) if asking.done() else _SILENT
        self._note(problem)
        if problem is None:
            return JSONResponse({"status": OK})
        status = 200 if self._was_ready else 503
        return JSONResponse({"status": DATABASE_AWAY, "message": problem}, status)

    def _note(self, problem: str | None) -> None:
        """Says once that it went, and once that it is back."""
        if problem is None and self._is_away:
            logger.warning("the registry's database answers again")
        if problem is not None and self._was_ready and not self._is_away:
            logger.error("the registry's database does not answer; people are told to come back")
        self._is_away = problem is not None and self._was_ready
        self._was_ready = self._was_ready or problem is None


def _problem_of(asked: asyncio.Task[None]) -> str | None:
    """What kind of problem there is with the database, if any; its words may hold an address."""
    if asked.cancelled():
        return _SILENT
    problem = asked.exception()
    return None if problem is None else type(problem).__name__
