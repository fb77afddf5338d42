"""Which workers one request has asked without an answer, which is asked next, and what is said at the end.

Asks nobody itself; what it finds out about a worker it tells `server.fleet.addresses`, for other requests.
"""

from __future__ import annotations

import logging

import httpx2

from loader.errors import ErrorCode, LoaderError
from server.fleet.addresses import WorkerAddresses, may_stand_for_several

_BUSY_SECONDS = 5
"""When to come back, for who found no worker."""
logger = logging.getLogger(__name__)


class RefusedError(Exception):
    """A worker does not accept this front end: it has another secret, or something before it does."""


NO_ANSWERS = (httpx2.TransportError, ConnectionError, RefusedError, LoaderError)
"""How asking a worker can end without an answer."""


class AskedWorkers:
    """One request's way from worker to worker.

    Args:
        addresses: of all that may be asked.
        session: names what is asked for.
    """

    def __init__(self, addresses: WorkerAddresses, session: str) -> None:
        self._addresses = addresses
        self._session = session
        self._refused: set[str] = set()
        self._full: dict[str, LoaderError] = {}
        self._has_failed = False

    async def next(self) -> str | None:
        """The best that is left; None when there is none.

        One that refuses may have another secret than the others, and one that is full stays so for a while;
        but behind a balancer another worker answers the next time.
        """
        full = {url for url in self._full if not may_stand_for_several(url)}
        ranked = await self._addresses.ranked(self._session)
        return next((url for url in ranked if url not in self._refused | full), None)

    def needs_a_moment(self, url: str) -> bool:
        """Whether this one has just failed, and all others with it."""
        return self._addresses.is_ejected(url) or url in self._full

    def note(self, url: str, problem: Exception) -> None:
        """A worker gave no answer, or one that is none.

        Raises:
            LoaderError: the problem, when it is an answer that another worker would give, too.
        """
        if isinstance(problem, LoaderError):
            if problem.code is not ErrorCode.WORKER_FULL:
                raise problem
            logger.warning("worker %s has no room for this session: %s", url, problem.message)
            self._addresses.note_full(url, self._session)
            self._full[url] = problem
        elif isinstance(problem, RefusedError):
            self._refused.add(url)
        else:
            self._has_failed = True
            if isinstance(problem, httpx2.TimeoutException):
                logger.warning("worker %s stands still: %r", url, problem)
                self._addresses.eject_silent(url)
            else:
                logger.warning("worker %s did not answer: %r", url, problem)
                self._addresses.eject(url)

    def reason(self) -> LoaderError:
        """What to say when none has answered: that there is no room is what can be mended soonest."""
        if self._full:
            return next(iter(self._full.values()))
        if self._refused and not self._has_failed:
            message = "The workers do not accept this front end. Its log says why."
            return LoaderError(ErrorCode.INTERNAL, message)
        message = "No worker answers at the moment."
        return LoaderError(ErrorCode.BUSY, message, retry_after=_BUSY_SECONDS)
