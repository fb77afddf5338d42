"""Taking in one host's profile: whole, or in parts of which each may come to another front end.

What front ends share of an upload lies in the upload root and in the registry; nothing is kept in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from loader.storage.writing import AlreadyThereError
from server.http.error_table import CONFLICT, UNAVAILABLE
from server.http.errors import ApiError, invalid_field
from server.uploads.cleaning import clean_now_and_then
from server.uploads.headers import Asked, ContentRange
from server.uploads.placing import Partial, Placer, Target, Whole
from server.uploads.receiving import (
    InThread,
    Pace,
    Received,
    Wanted,
    digest_mismatch,
    receive,
    too_large,
)
from server.uploads.room import UploadRoom
from server.uploads.sessions import Completed
from server.uploads.store import MOST_PARTS, Progress, UploadStore, upload_key
from server.xprof.prewarm import Prewarmer

MOST_AT_ONCE = 64
"""Bodies that one front end takes in at a time; each holds some MB of memory."""


class Uploads:
    """Takes uploads in. Lives in one event loop.

    Args:
        store: the files.
        placer: puts them in their places.
        prewarmer: converts sessions that have become complete.
        in_thread: runs what blocks.
        room: says whether there is room for more.
        most_bytes: size of the largest file.
        pace: how slow clients may be.
    """

    def __init__(
        self,
        store: UploadStore,
        placer: Placer,
        prewarmer: Prewarmer,
        in_thread: InThread,
        room: UploadRoom,
        most_bytes: int,
        pace: Pace | None = None,
    ) -> None:
        self._store = store
        self._placer = placer
        self._prewarmer = prewarmer
        self._in_thread = in_thread
        self._room = room
        self._most_bytes = most_bytes
        self._pace = pace or Pace()
        self._running = 0
        self._cleaning: asyncio.Task[None] | None = None

    def start_cleaning(self) -> None:
        """Begins to remove what abandoned uploads have left, now and then."""
        self._cleaning = asyncio.create_task(clean_now_and_then(self._store, self._in_thread))

    async def aclose(self) -> None:
        """Ends that."""
        if self._cleaning is not None:
            self._cleaning.cancel()
            await asyncio.gather(self._cleaning, return_exceptions=True)

    async def take(
        self, target: Target, asked: Asked, body: AsyncIterator[bytes]
    ) -> Whole | Partial:
        """Takes in a request.

        Raises:
            ApiError: it is refused.
            RegistryError: there is no such run.
            LoaderError: the files can't be read or written.
        """
        size = self._announced(asked)
        known = await self._in_thread(lambda: self._placer.look(target))
        settled = await self._in_thread(lambda: self._placer.settle(target, known, asked))
        if settled is not None:
            return settled
        await self._in_thread(lambda: self._room.require(size))
        if asked.span is None or asked.digest is None:
            received = await self._receive_whole(asked, body)
            whole = await self._in_thread(
                lambda: self._placer.place(target, asked, received.file, received.digest, None)
            )
        else:
            key = upload_key(known.owner, target.host, asked.digest)
            progress = await self._receive_part(key, asked, asked.span, body)
            if asked.span.total is None or progress.received < asked.span.total:
                return Partial(progress.received)
            whole = await self._in_thread(lambda: self._placer.finish(target, asked, key, progress))
        self._start_prewarm(whole.completed)
        return whole

    async def complete(self, run: str, session: str) -> None:
        """Closes a session to which no more hosts come, and has it converted in advance.

        Raises:
            ApiError: the session was not made by uploads.
            RegistryError: NOT_FOUND.
            LoaderError: it has no files.
        """
        self._start_prewarm(await self._in_thread(lambda: self._placer.complete(run, session)))

    async def remove(self, run: str, session: str, host: str, etag: str | None) -> None:
        """Removes a host's file; the session stays.

        Raises:
            ApiError: the session was not made by uploads, has no such host, or the file is another one.
            RegistryError: NOT_FOUND.
        """
        await self._in_thread(lambda: self._placer.remove(run, session, host, etag))

    def _start_prewarm(self, completed: Completed | None) -> None:
        if completed is not None:
            self._prewarmer.start(completed.session, completed.files)

    def _announced(self, asked: Asked) -> int:
        """Bytes that a file will have at least; what is too large is refused before a byte of it is read."""
        ends = [asked.length or 0]
        if asked.span is not None:
            ends += [asked.span.total or 0, (asked.span.last or 0) + 1]
        if max(ends) > self._most_bytes:
            raise too_large(self._most_bytes)
        return max(ends)

    async def _receive_whole(self, asked: Asked, body: AsyncIterator[bytes]) -> Received:
        header = "Content-Digest" if asked.part_digest else "Repr-Digest"
        wanted = Wanted(self._most_bytes, None, asked.digest, header)
        if asked.part_digest and asked.digest != asked.part_digest:
            raise digest_mismatch("Content-Digest")
        with self._turn():
            draft = await self._in_thread(self._store.begin_whole)
            return await receive(body, draft, wanted, self._pace, self._in_thread)

    async def _receive_part(
        self, key: str, asked: Asked, span: ContentRange, body: AsyncIterator[bytes]
    ) -> Progress:
        """Takes in a part that follows what has come, and answers how far the upload is then."""
        progress = await self._in_thread(lambda: self._store.progress(key))
        if span.total is not None and progress.received > span.total:
            raise invalid_field("Content-Range", f"{progress.received} bytes have come already.")
        if span.first is None or span.last is None or span.last < progress.received:
            return progress
        first, size = span.first, span.last - span.first + 1
        if first != progress.received:
            raise _gap(progress.received)
        if len(progress.parts) >= MOST_PARTS:
            raise invalid_field(
                "Content-Range", f"An upload has at most {MOST_PARTS} parts; send larger ones."
            )
        wanted = Wanted(size, size, asked.part_digest, "Content-Digest")
        try:
            with self._turn():
                draft = await self._in_thread(lambda: self._store.begin_part(key, first, size))
                await receive(body, draft, wanted, self._pace, self._in_thread)
        except AlreadyThereError:
            pass  # The same part came twice at the same time, as after a broken connection.
        return await self._in_thread(lambda: self._store.progress(key))

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One of the bodies that are taken in at a time."""
        if self._running >= MOST_AT_ONCE:
            raise ApiError(UNAVAILABLE, "Too many uploads come in at this moment. Try again.")
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1


def _gap(received: int) -> ApiError:
    """The refusal of a part that does not follow what has come."""
    headers = {"Range": f"bytes=0-{received - 1}"} if received else {}
    return ApiError(
        CONFLICT,
        f"{received} bytes have come, so the next part has to begin at byte {received}.",
        headers=headers,
    )
