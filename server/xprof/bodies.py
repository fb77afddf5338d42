"""The body of a tool's answer on its way to the browser: from a cache or a worker, in the browser's encoding.

Bodies pass in pieces. A cache or worker that breaks off in the middle of one is replaced by a worker that has
the same bytes; a copy that can't be kept is given up, and the reader notices neither.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio
import anyio.to_thread
import httpx2

from loader.caches.results import OpenResult, ResultHeader, close_pieces
from server.encodings import IDENTITY, Recoder
from server.fleet.workers import WorkerAnswer

logger = logging.getLogger(__name__)
_LARGEST_COPY = 256 << 20

Pieces = AsyncGenerator[bytes, None]
Keep = Callable[[ResultHeader, Path], None]
"""Keeps a recoded body; the file is gone afterwards."""


@dataclass(frozen=True)
class Body:
    """A body that is being read.

    Attributes:
        key: names the content of the answer.
        header: what is known of it; its size and digest are those of the stored zstd body.
        pieces: the body.
        close: frees what the body holds; must be called, read or not.
        whole: all of the body, if it was read already; then nothing is held.
    """

    key: str
    header: ResultHeader
    pieces: Pieces
    close: Callable[[], Awaitable[None]]
    whole: bytes | None = None


async def _next_piece(pieces: Iterator[bytes], limiter: anyio.CapacityLimiter) -> bytes | None:
    return await anyio.to_thread.run_sync(next, pieces, None, limiter=limiter)


def stored_body(
    key: str,
    result: OpenResult,
    limiter: anyio.CapacityLimiter,
    ask_worker: Callable[[], Awaitable[WorkerAnswer]] | None = None,
) -> Body:
    """A body from a cache; `ask_worker` gives the same answer anew when the cache breaks off."""
    resources = AsyncExitStack()

    async def close_stored() -> None:
        await anyio.to_thread.run_sync(close_pieces, result)

    resources.push_async_callback(close_stored)

    async def read() -> Pieces:
        sent = 0
        try:
            while (piece := await _next_piece(result.pieces, limiter)) is not None:
                yield piece
                sent += len(piece)
            return
        except ConnectionError as problem:
            if ask_worker is None:
                raise
            logger.warning("a cached result broke off, the worker goes on: %s", problem)
        answer = await ask_worker()
        resources.push_async_callback(answer.close)
        async for piece in _rest_of_same(answer, result.header, sent):
            yield piece

    return Body(key, result.header, read(), resources.aclose)


async def _rest_of_same(answer: WorkerAnswer, header: ResultHeader, sent: int) -> Pieces:
    """What follows the first `sent` bytes in another copy of a body.

    Raises:
        ConnectionError: it is not the same body.
    """
    if not header.digest or answer.header.digest != header.digest:
        raise ConnectionError("the worker's answer is not the one that was begun with")
    async for piece in answer.pieces:
        if sent < len(piece):
            yield piece[sent:]
        sent = max(0, sent - len(piece))


def worker_body(answer: WorkerAnswer, ask_again: Callable[[], Awaitable[WorkerAnswer]]) -> Body:
    """A body from a worker; `ask_again` gives the same answer anew when that worker dies on the way."""
    resources = AsyncExitStack()
    resources.push_async_callback(answer.close)

    async def read() -> Pieces:
        sent = 0
        try:
            async for piece in answer.pieces:
                yield piece
                sent += len(piece)
            return
        except (ConnectionError, httpx2.TransportError) as problem:
            logger.warning("a worker broke off, another one goes on: %r", problem)
        again = await ask_again()
        resources.push_async_callback(again.close)
        async for piece in _rest_of_same(again, answer.header, sent):
            yield piece

    return Body(answer.key, answer.header, read(), resources.aclose)


def recoded_body(
    body: Body, encoding: str, folder: Path, limiter: anyio.CapacityLimiter, keep: Keep
) -> Body:
    """The same answer in another encoding; the recoded body is kept for the next who asks."""
    resources = AsyncExitStack()
    resources.push_async_callback(body.close)

    async def read() -> Pieces:
        recoder = Recoder(encoding)
        copy = _Copy(None if encoding == IDENTITY else folder)
        resources.push_async_callback(anyio.to_thread.run_sync, copy.close)
        async for piece in body.pieces:
            outs = recoder.feed(piece)
            while (out := await _next_piece(outs, limiter)) is not None:
                await anyio.to_thread.run_sync(copy.write, out, limiter=limiter)
                yield out
        out = await anyio.to_thread.run_sync(recoder.finish, limiter=limiter)
        if out:
            await anyio.to_thread.run_sync(copy.write, out, limiter=limiter)
            yield out
        await anyio.to_thread.run_sync(copy.hand_over, body.header, keep, limiter=limiter)

    return Body(body.key, body.header, read(), resources.aclose)


class _Copy:
    """A file beside the stream; given up when it can't be written or grows too large."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None

    def write(self, piece: bytes) -> None:
        if self._folder is None:
            return
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._file = tempfile.NamedTemporaryFile(dir=self._folder)  # noqa: SIM115
            self._file.write(piece)
            if self._file.tell() > _LARGEST_COPY:
                self._give_up()
        except OSError as problem:
            logger.warning("a recoded result can't be kept: %s", problem)
            self._give_up()

    def hand_over(self, header: ResultHeader, keep: Keep) -> None:
        """Gives the whole body to the cache."""
        if self._file is None:
            return
        try:
            self._file.flush()
            size = self._file.tell()
            recoded = ResultHeader(
                header.content_type,
                size,
                header.raw_size,
                header.warnings,
                is_final=header.is_final,
            )
            keep(recoded, Path(self._file.name))
        except OSError as problem:
            logger.warning("a recoded result can't be kept: %s", problem)
        finally:
            self.close()

    def close(self) -> None:
        """Removes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _give_up(self) -> None:
        self._folder = None
        self.close()
