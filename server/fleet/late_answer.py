"""A worker's answer that is not there yet: signs of life until it is, and then the answer itself.

A front end can't see whether a silent worker converts or stands still. It hears this one, and so may give up
one that says nothing. See `server.fleet.protocol` for the form.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import anyio.to_thread
from starlette.concurrency import iterate_in_threadpool

from loader.caches.results import OpenResult, close_pieces
from loader.errors import LoaderError
from loader.service import Answered
from server.fleet.protocol import BEAT, BEAT_SECONDS, LATE_CONTENT_TYPE, ErrorBody, LateHead
from server.http.streams import ClosingResponse


class WorkerStoppingError(Exception):
    """This worker was told to end, and has not made the answer; another one is to be asked."""


def late_response(making: asyncio.Task[Answered]) -> ClosingResponse:
    """The answer that a task is making. Should the reader leave, the task goes on, for whoever asks again."""

    async def close() -> None:
        if making.done():
            await anyio.to_thread.run_sync(_let_go, making)
        else:
            making.add_done_callback(_let_go)

    return ClosingResponse(_beats_and_answer(making), close, {}, LATE_CONTENT_TYPE)


def framed(result: OpenResult) -> Iterator[bytes]:
    """A result as it is sent."""
    yield result.header.to_bytes()
    yield from result.pieces


async def _beats_and_answer(making: asyncio.Task[Answered]) -> AsyncIterator[bytes]:
    while not making.done():
        yield BEAT
        await asyncio.wait({making}, timeout=BEAT_SECONDS)
    try:
        answered = making.result()
    except WorkerStoppingError:
        return
    except LoaderError as error:
        yield LateHead(error=ErrorBody.of(error)).to_frame()
        return
    yield LateHead(key=answered.key).to_frame()
    async for piece in iterate_in_threadpool(framed(answered.result)):
        yield piece


def _let_go(making: asyncio.Task[Answered]) -> None:
    if not making.cancelled() and making.exception() is None:
        close_pieces(making.result().result)
