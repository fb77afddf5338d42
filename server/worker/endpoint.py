"""The worker's one address for front ends: reads what is asked, and sends the answer in pieces."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio.to_thread
from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from loader.caches.results import close_pieces
from loader.errors import COMES_BACK, ErrorCode, LoaderError
from loader.service import Answered, ToolDataService
from loader.turns.order import Urgency
from server.fleet.late_answer import WorkerStoppingError, framed, late_response
from server.fleet.protocol import (
    BEAT_SECONDS,
    BEATS_HEADER,
    CONTENT_TYPE,
    KEY_HEADER,
    ErrorBody,
    ToolRequestBody,
)
from server.fleet.session_threads import SessionThreads
from server.http.error_table import UNAVAILABLE, answer_of, retry_headers
from server.http.limited_body import BodyTooLargeError, read_limited_body
from server.http.streams import ClosingResponse

_OF_AN_END = frozenset({ErrorCode.CANCELLED, ErrorCode.INTERNAL, *COMES_BACK})
"""Failures of a worker that was told to end, which another worker has no reason to share."""
_WAITING_REQUESTS, _OF_ONE_SESSION = 512, 128
"""Threads that may wait for an answer at once; conversions themselves are bounded by `conversions`."""
logger = logging.getLogger(__name__)


def answer_with(
    service: ToolDataService, credentials: Sequence[str]
) -> Callable[[Request], Awaitable[Response]]:
    """The handler of `TOOL_DATA_PATH`; only who shows one of the credentials is heard."""
    heard = [f"Bearer {credential}".encode() for credential in credentials]
    threads = SessionThreads(_WAITING_REQUESTS, _OF_ONE_SESSION)

    async def tool_data(request: Request) -> Response:
        sent = request.headers.get("authorization", "").encode()
        if not any([hmac.compare_digest(sent, one) for one in heard]):
            return PlainTextResponse("This address is for front ends of XProf Hub.", 401)
        try:
            body = await _read_request(request)
        except LoaderError as error:
            return _error(error)
        making = asyncio.create_task(_answer(service, request, body, threads))
        if BEATS_HEADER in request.headers:
            await asyncio.wait({making}, timeout=BEAT_SECONDS)
            if not making.done():
                return late_response(making)
        try:
            answered = await making
        except WorkerStoppingError:
            # Not an error of ours on the wire: the front end asks another worker then.
            headers = retry_headers(UNAVAILABLE)
            return PlainTextResponse("This worker is being stopped.", UNAVAILABLE.http, headers)
        except LoaderError as error:
            return _error(error)
        close = partial(anyio.to_thread.run_sync, close_pieces, answered.result)
        headers = {KEY_HEADER: answered.key}
        return ClosingResponse(framed(answered.result), close, headers, CONTENT_TYPE)

    return tool_data


async def _answer(
    service: ToolDataService,
    request: Request,
    body: ToolRequestBody,
    threads: SessionThreads,
) -> Answered:
    """The answer to a front end's request.

    Raises:
        LoaderError: why there is none; faults of our own are in the log.
        WorkerStoppingError: another worker is to be asked.
    """
    try:
        return await _ask(service, request, body, threads)
    except LoaderError as error:
        if service.stopping.has_begun and error.code in _OF_AN_END:
            raise WorkerStoppingError from error
        if error.code is ErrorCode.INTERNAL:
            logger.exception("a request failed")
        raise
    except Exception as problem:  # A fault of ours: another worker would run into it too.
        if service.stopping.has_let_go:
            raise WorkerStoppingError from problem
        logger.exception("a request failed")
        raise _fault() from problem


async def _ask(
    service: ToolDataService,
    request: Request,
    body: ToolRequestBody,
    threads: SessionThreads,
) -> Answered:
    """Asks the service in a thread; a person's answer is made to its end, whoever leaves."""
    cancelled = threading.Event() if body.urgency is Urgency.PREWARM else None
    watching = None if cancelled is None else asyncio.create_task(_watch(request, cancelled))
    ask = partial(
        service.get,
        body.to_request(),
        body.urgency,
        cancelled=cancelled,
        is_large=body.is_large,
        is_last=body.is_last,
    )
    try:
        return await threads.run("\n".join(body.locations), ask)
    finally:
        if watching is not None:
            watching.cancel()


async def _watch(request: Request, cancelled: threading.Event) -> None:
    """Sets the event when the connection closes; the body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    cancelled.set()


async def _read_request(request: Request) -> ToolRequestBody:
    """What a front end asks for.

    Raises:
        LoaderError: INVALID_REQUEST; the body is not repeated.
    """
    try:
        body = ToolRequestBody.model_validate_json(await read_limited_body(request))
        json.dumps(body.model_dump(), allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, BodyTooLargeError) as problem:
        raise LoaderError(
            ErrorCode.INVALID_REQUEST, "The worker does not understand the front end's request."
        ) from problem
    return body


def _fault() -> LoaderError:
    return LoaderError(
        ErrorCode.INTERNAL, "The worker failed for a reason of its own; its log says why."
    )


def _error(error: LoaderError) -> JSONResponse:
    answer = answer_of(error)
    return JSONResponse(
        ErrorBody.of(error).model_dump(mode="json"), answer.http, retry_headers(answer)
    )
