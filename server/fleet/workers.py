"""Choosing a worker and asking it: the front end's side of `server.fleet.protocol`.

A worker that is gone, or stands still, is passed over for a moment and the request goes to the next; one
without room on its disk likewise, for the session that did not fit. One that is slow but gives signs of life
is waited for, up to one limit for all attempts together. Where all have failed, or one address stands for
all, it is asked again after a pause (`server.fleet.retries`). Nothing is retried once bytes of an answer have
gone out. What needs more memory than the ordinary workers have goes to a large one, where there are any.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

import httpx2

from loader.caches.results import ResultHeader
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.turns.admission import Urgency
from server.fleet.addresses import WorkerAddresses, may_stand_for_several
from server.fleet.asked import NO_ANSWERS, AskedWorkers, RefusedError
from server.fleet.frames import FrameReader
from server.fleet.identity import Identity
from server.fleet.protocol import (
    BEAT_SECONDS,
    BEATS_HEADER,
    KEY_HEADER,
    LATE_CONTENT_TYPE,
    TOOL_DATA_PATH,
    ErrorBody,
    LateHead,
    ToolRequestBody,
)
from server.fleet.retries import pause_before, retry_budget
from server.tracing.header import trace_headers

_TRIES = 4
_END_SECONDS = 1
"""When to come back, for who has to turn to another front end."""
_CONNECT_SECONDS = 3.0
IDLE_SECONDS = 2.0
"""How long an idle connection is kept at most."""
_SILENT_SECONDS = 4 * BEAT_SECONDS
"""After so long without a sign of life a worker counts as one that stands still."""
_BALANCED_SECONDS = 20.0
"""The same behind a platform's balancer: it is silent while it starts a worker, for 10 s and more."""
_WANTS_MEMORY = frozenset({ErrorCode.NEEDS_LARGER_WORKER, ErrorCode.OUT_OF_MEMORY})
_REFUSALS = frozenset({httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN})
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WorkerAnswer:
    """An answer that is being received.

    Attributes:
        key: names its content, after the worker's own look at the files.
        header: what is known of it.
        pieces: the zstd body.
        close: frees the connection; must be called, read or not.
    """

    key: str
    header: ResultHeader
    pieces: AsyncGenerator[bytes, None]
    close: Callable[[], Awaitable[None]]


class Workers:
    """Asks workers for tool data.

    Args:
        addresses: the ordinary workers.
        credential: proves this front end to them.
        timeout_seconds: for all attempts of one request together.
        on_retry: called when a request goes to another worker.
        large: workers with more memory, or None.
        silent_seconds: how long a worker may say nothing, not even that it lives.
        idle_seconds: how long an idle connection is kept: less than a worker keeps it, so that none is used
            as it closes.
        identity: who this front end is to a platform that stands before the workers.
    """

    def __init__(
        self,
        addresses: WorkerAddresses,
        credential: str,
        timeout_seconds: float,
        on_retry: Callable[[], None],
        large: WorkerAddresses | None = None,
        silent_seconds: float = _SILENT_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
        identity: Identity | None = None,
    ) -> None:
        self._addresses = addresses
        self._large = large
        self._seconds = timeout_seconds
        self._on_retry = on_retry
        self._silent_seconds = silent_seconds
        self._identity = identity
        self._budget = retry_budget()
        self._waiting: set[asyncio.Timeout] = set()
        self._has_given_up = False
        self._client = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {credential}", BEATS_HEADER: "1"},
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=64, keepalive_expiry=idle_seconds
            ),
            trust_env=False,
        )

    async def get(
        self, request: ToolRequest, urgency: Urgency = Urgency.PERSON, is_large: bool = False
    ) -> WorkerAnswer:
        """The answer of the first worker that gives one; a large one is asked when memory did not suffice.

        Args:
            request: what is asked.
            urgency: for whom; a worker gives up what is made in advance when the connection closes.
            is_large: whether it is known already that an ordinary worker had too little memory.

        Raises:
            LoaderError: the worker's own reason, TIMED_OUT when none has begun to answer in time, BUSY when
                no worker is there or this front end ends, WORKER_FULL when none that answers has room,
                INTERNAL when none accepts it.
        """
        if self._has_given_up:
            raise _ending()
        try:
            async with asyncio.timeout(self._seconds) as waiting:
                self._waiting.add(waiting)
                try:
                    return await self._get(request, urgency, is_large)
                finally:
                    self._waiting.discard(waiting)
        except TimeoutError as problem:
            if self._has_given_up:
                raise _ending() from problem
            raise LoaderError(
                ErrorCode.TIMED_OUT,
                f"There was no answer within {self._seconds:g} seconds. Try again later: a conversion that "
                "has begun goes on.",
            ) from problem

    def give_up(self) -> None:
        """This front end ends: who waits for an answer to begin gets BUSY now. To be called in the loop."""
        self._has_given_up = True
        for waiting in self._waiting:
            waiting.reschedule(asyncio.get_running_loop().time())

    def may_help(self, error: LoaderError) -> bool:
        """Whether a large worker may have the answer that an ordinary one could not make."""
        return self._large is not None and error.code in _WANTS_MEMORY

    async def _get(self, request: ToolRequest, urgency: Urgency, is_large: bool) -> WorkerAnswer:
        session = "\n".join(request.locations)
        if self._large is None or not is_large:
            body = ToolRequestBody.of(request, urgency, is_last=self._large is None)
            try:
                return await self._first_answer(self._addresses, session, body)
            except LoaderError as error:
                if self._large is None or not self.may_help(error):
                    raise
                logger.info("a large worker is asked: %s", error.message)
        body = ToolRequestBody.of(request, urgency, is_large=True, is_last=True)
        return await self._first_answer(self._large, session, body)

    async def _first_answer(
        self, addresses: WorkerAddresses, session: str, body: ToolRequestBody
    ) -> WorkerAnswer:
        self._budget.earn()
        asked, pauses = AskedWorkers(addresses, session), 0
        for attempt in range(_TRIES):
            url = await asked.next()
            if url is None:
                break
            if attempt and asked.needs_a_moment(url):
                # All have just failed: a moment to come back. Another one is asked at once.
                if not self._budget.spend():
                    break
                await asyncio.sleep(pause_before(pauses))
                pauses += 1
            if attempt:
                self._on_retry()
            addresses.begin(url)
            try:
                return await self._ask(addresses, url, body)
            except NO_ANSWERS as problem:
                asked.note(url, problem)
        raise asked.reason()

    async def _ask(
        self, addresses: WorkerAddresses, url: str, body: ToolRequestBody
    ) -> WorkerAnswer:
        request = self._client.build_request(
            "POST",
            url + TOOL_DATA_PATH,
            json=body.model_dump(mode="json"),
            headers=await self._headers(url),
            timeout=_patience(url, self._silent_seconds),
        )
        response = await self._client.send(request, stream=True)
        if response.status_code != httpx2.codes.OK:
            text = await response.aread()
            await response.aclose()
            error = _error_of(url, response.status_code, text)
            if isinstance(error, LoaderError):
                addresses.note_answer(url)
            raise error
        addresses.note_answer(url)
        try:
            return await _read_answer(response)
        except BaseException:
            await response.aclose()
            raise

    async def _headers(self, url: str) -> dict[str, str]:
        identity = await self._identity.headers(url) if self._identity else {}
        return {**identity, **trace_headers()}

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()


def _ending() -> LoaderError:
    return LoaderError(
        ErrorCode.BUSY,
        "This front end is being stopped.",
        retry_after=_END_SECONDS,
    )


def _error_of(url: str, status: int, text: bytes) -> Exception:
    """The worker's error; anything that is not one (a proxy's page) counts as no answer.

    A platform that starts no more workers says 429 or 503; its page is no `ErrorBody`, whatever the status.
    """
    try:
        return ErrorBody.model_validate_json(text).to_error()
    except ValueError:
        if status not in _REFUSALS:
            return ConnectionError(f"status {status}")
    logger.error(
        "worker %s refuses this front end (%d): XPROF_HUB_SECRET_KEY is not the same on both, or what stands "
        "before it asks for an identity (XPROF_HUB_WORKER_IDENTITY)",
        url,
        status,
    )
    return RefusedError()


def _patience(url: str, silent_seconds: float) -> httpx2.Timeout:
    """How long an address may say nothing."""
    if may_stand_for_several(url):
        silent_seconds = max(silent_seconds, _BALANCED_SECONDS)
    return httpx2.Timeout(silent_seconds, connect=_CONNECT_SECONDS)


async def _read_answer(response: httpx2.Response) -> WorkerAnswer:
    """Reads up to the body, however long that takes as long as signs of life come.

    Raises:
        LoaderError: the worker's own reason, which it found late.
        ConnectionError: this is no answer.
    """
    reader = FrameReader(response.aiter_raw())
    key = response.headers.get(KEY_HEADER, "")
    try:
        if response.headers.get("content-type") == LATE_CONTENT_TYPE:
            head = LateHead.model_validate_json(await reader.frame())
            if head.error is not None:
                raise head.error.to_error()
            key = head.key
        header = ResultHeader.from_json(await reader.frame())
    except ValueError as problem:
        raise ConnectionError(str(problem)) from problem
    return WorkerAnswer(key, header, reader.rest(header.size), response.aclose)
