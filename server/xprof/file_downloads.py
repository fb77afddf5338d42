"""A host's profile as it lies in storage, handed on in pieces: never whole in memory, never from a cache.

Its first piece is read before the answer begins, so that what can't be read is said in words; a file that is
replaced afterwards breaks the answer off, for two captures must not become one file. Who may ask is decided
by the routes.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from urllib.parse import quote

import anyio.to_thread
from fastapi import Request, Response
from fastapi.responses import StreamingResponse

from loader.catalog import SessionFiles
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import StoredFile
from server.http.conditional import holds_etag
from server.http.error_table import ErrorAnswer
from server.http.errors import ApiError
from server.services import Services

PIECE_BYTES = 4 << 20
"""Of memory that one download takes."""
MOST_TOLD_BYTES = 32 << 20
"""Longest answer that says how long it is: Cloud Run refuses one that says more, and passes it on in chunks
(https://cloud.google.com/run/quotas, "Maximum HTTP/1 response size")."""
SIZE_HEADER = "X-XProf-Hub-Size"
"""How long the whole file is, in bytes, which every answer says."""
_UNSAFE_IN_FILE_NAME = re.compile(r"[^\w.@+,=~ -]+")
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_UNSATISFIABLE = ErrorAnswer(416, "OUT_OF_RANGE")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Part:
    """What of the file is sent: bytes from `start` up to, and without, `end`."""

    start: int
    end: int
    is_whole: bool


def find_host(files: SessionFiles, host: str) -> StoredFile:
    """The file of a host.

    Raises:
        LoaderError: NOT_FOUND.
    """
    for entry in files.hosts:
        if entry.host == host:
            return entry.file
    raise LoaderError(
        ErrorCode.NOT_FOUND,
        "This session has no file of such a host now. It may have been moved or deleted; open the session to "
        "see the hosts that are there.",
    )


def etag_of_file(file: StoredFile) -> str:
    """A strong entity tag, with quotes, of this generation of the file; tells nothing of where it lies."""
    text = f"{file.location}\n{file.generation}\n{file.size}"
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def safe_file_name(name: str) -> str:
    """The name without what a file system, a shell or a reader's eye could take for something else."""
    return _UNSAFE_IN_FILE_NAME.sub("_", name).lstrip(".") or "profile"


async def download_response(request: Request, services: Services, file: StoredFile) -> Response:
    """The file as an attachment: whole, or the range that was asked for.

    Raises:
        LoaderError: it can't be read, or is not what was listed any more.
        ApiError: 416, the range lies behind its end.
    """
    etag = etag_of_file(file)
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        SIZE_HEADER: str(file.size),
        "Content-Disposition": "attachment; filename*=UTF-8''"
        + quote(safe_file_name(file.name), safe=""),
    }
    if holds_etag(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    part = _wanted_part(request, file, etag)
    first = await _read(services, file, part.start, part.end)
    if part.end - part.start <= MOST_TOLD_BYTES:
        headers["Content-Length"] = str(part.end - part.start)
    if not part.is_whole:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{file.size}"
    return StreamingResponse(
        _pieces(services, file, part, first),
        200 if part.is_whole else 206,
        headers,
        "application/octet-stream",
    )


async def _pieces(
    services: Services, file: StoredFile, part: _Part, first: bytes
) -> AsyncGenerator[bytes, None]:
    piece, position = first, part.start
    while piece:
        yield piece
        position += len(piece)
        try:
            piece = await _read(services, file, position, part.end)
        except LoaderError as error:
            logger.warning("a download broke off after %d bytes: %s", position, error.message)
            raise ConnectionError("the file can't be read any more") from error


async def _read(services: Services, file: StoredFile, start: int, end: int) -> bytes:
    """The next piece; empty at the end."""
    length = min(PIECE_BYTES, end - start)
    if not length:
        return b""
    return await anyio.to_thread.run_sync(
        services.storage.read_part, file, start, length, limiter=services.threads.storage
    )


def _wanted_part(request: Request, file: StoredFile, etag: str) -> _Part:
    """What a request asks for; several ranges at once, and ranges of another version, get the whole file.

    Raises:
        ApiError: 416.
    """
    whole = _Part(0, file.size, is_whole=True)
    found = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if found is None or request.headers.get("if-range", etag) != etag:
        return whole
    first, last = found[1], found[2]
    if not first and not last:
        return whole
    start = int(first) if first else max(0, file.size - int(last))
    end = min(int(last) + 1, file.size) if first and last else file.size
    if first and last and int(last) < int(first):
        return whole
    if start >= end:
        message = f"The file has {file.size} bytes; this range lies behind its end."
        raise ApiError(_UNSATISFIABLE, message, headers={"Content-Range": f"bytes */{file.size}"})
    return _Part(start, end, is_whole=False)
