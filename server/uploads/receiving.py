"""Taking in a request's body piece by piece: constant memory, a limit of size, and an end to patience."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from loader.storage.base import StoredFile
from loader.storage.writing import Draft
from server.http.error_table import BODY_TOO_LARGE, SLOW_CLIENT
from server.http.errors import ApiError, invalid_field

_BLOCK_BYTES = 1 << 20
"""Bytes that are gathered before they are written."""
T = TypeVar("T")


class InThread(Protocol):
    """Runs a blocking call beside the event loop."""

    async def __call__(self, call: Callable[[], T], /) -> T:
        """The result of the call."""


@dataclass(frozen=True)
class Pace:
    """How slow a client may be.

    Attributes:
        idle_seconds: longest wait for its next bytes.
        grace_seconds: how long it may be slower than that rate on the whole.
        bytes_per_second: least rate on the whole after that.
    """

    idle_seconds: float = 60.0
    grace_seconds: float = 60.0
    bytes_per_second: float = 16_384.0


@dataclass(frozen=True)
class Received:
    """A body that was taken in.

    Attributes:
        file: the draft that it became.
        digest: its SHA-256.
    """

    file: StoredFile
    digest: bytes


@dataclass(frozen=True)
class Wanted:
    """What a body must be.

    Attributes:
        most: bytes that are taken.
        exactly: bytes that it must have, or None.
        digest: SHA-256 that it must have, or None.
        header: the header that says so.
    """

    most: int
    exactly: int | None
    digest: bytes | None
    header: str


async def receive(
    body: AsyncIterator[bytes],
    draft: Draft,
    wanted: Wanted,
    pace: Pace,
    in_thread: InThread,
) -> Received:
    """Writes a body into a draft and finishes it, or discards it when anything is wrong.

    Args:
        body: pieces as they come.
        draft: where to.
        wanted: what the body must be.
        pace: how slow it may come.
        in_thread: runs what blocks.

    Raises:
        ApiError: too large, too short, too slow, or not of the digest that was claimed.
        LoaderError: it can't be written.
        AlreadyThereError: at the draft's location is a file by now.
    """
    seen = hashlib.sha256()
    size = 0

    def take(block: bytes) -> None:
        seen.update(block)
        draft.write(block)

    try:
        async for block in _blocks(_paced(body, pace)):
            size += len(block)
            _require_room(size, wanted)
            await in_thread(partial(take, block))
        _require_whole(size, seen.digest(), wanted)
        file = await in_thread(draft.finish)
    except BaseException:
        # The client may be gone and this task cancelled; what was written must go all the same.
        await asyncio.shield(asyncio.to_thread(draft.discard))
        raise
    return Received(file, seen.digest())


async def _paced(body: AsyncIterator[bytes], pace: Pace) -> AsyncIterator[bytes]:
    """The pieces of a body, as long as they come."""
    start = time.monotonic()
    size = 0
    while True:
        try:
            async with asyncio.timeout(pace.idle_seconds):
                piece = await anext(body)
        except StopAsyncIteration:
            return
        except TimeoutError as problem:
            raise _too_slow() from problem
        size += len(piece)
        late = time.monotonic() - start - pace.grace_seconds
        if late > 0 and size < late * pace.bytes_per_second:
            raise _too_slow()
        yield piece


async def _blocks(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in larger blocks: one call of a thread for each piece would take most of the time."""
    waiting = bytearray()
    async for piece in pieces:
        waiting += piece
        if len(waiting) >= _BLOCK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def too_large(most: int) -> ApiError:
    """The refusal of a file that is larger than the limit."""
    return ApiError(
        BODY_TOO_LARGE,
        f"A host's profile has at most {most} bytes here (XPROF_HUB_UPLOAD_BYTES). Profile fewer steps, or "
        "compress it with gzip.",
    )


def _require_room(size: int, wanted: Wanted) -> None:
    if wanted.exactly is not None and size > wanted.exactly:
        raise invalid_field("Content-Range", f"It names {wanted.exactly} bytes, and more came.")
    if size > wanted.most:
        raise too_large(wanted.most)


def _require_whole(size: int, digest: bytes, wanted: Wanted) -> None:
    if wanted.exactly is not None and size != wanted.exactly:
        raise invalid_field("Content-Range", f"It names {wanted.exactly} bytes, and {size} came.")
    if size == 0:
        raise invalid_field("body", "There is nothing in it.")
    if wanted.digest is not None and digest != wanted.digest:
        raise digest_mismatch(wanted.header)


def digest_mismatch(header: str) -> ApiError:
    """The refusal of bytes that are not those whose digest was sent."""
    return invalid_field(
        header,
        "What came has another SHA-256, so nothing was kept. Was the file changed meanwhile? Send it again.",
    )


def _too_slow() -> ApiError:
    return ApiError(
        SLOW_CLIENT,
        "The bytes came too slowly, or not at all. Ask how far the upload is, and go on from there.",
        headers={"Connection": "close"},
    )
