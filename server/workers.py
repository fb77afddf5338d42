"""Choosing a worker and asking it: the front end's side of `server.worker_protocol`.

The same session goes to the same worker while it answers, so that its disk is warm (rendezvous hashing); one
that is gone is passed over for a moment and the request goes to the next. One that is slow is waited for, up
to one limit for all attempts together. Nothing is retried once bytes of an answer have gone out.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import socket
import struct
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import httpx2

from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.results import ResultHeader
from server.worker_protocol import KEY_HEADER, TOOL_DATA_PATH, ErrorBody, ToolRequestBody

_RESOLVE_SECONDS = 5.0
_EJECT_SECONDS = 3.0
_TRIES = 4
_RETRY_PAUSE_SECONDS = 0.5
_CONNECT_SECONDS = 3.0
_IDLE_SECONDS = 2.0
"""How long an idle connection is kept: less than a worker keeps it, so that none is used as it closes."""
_PREFIX = struct.Struct(">I")
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


class WorkerAddresses:
    """The addresses of workers: fixed URLs, or one name that stands for several addresses.

    Args:
        urls: where workers are.
        clock: seconds that only grow.
        resolve: the URLs that one URL stands for now, or None when nobody can say.
    """

    def __init__(
        self,
        urls: Sequence[str],
        clock: Callable[[], float] = time.monotonic,
        resolve: Callable[[str], Awaitable[list[str] | None]] | None = None,
    ) -> None:
        self._known = {url.rstrip("/"): [url.rstrip("/")] for url in urls}
        self._clock = clock
        self._resolve = resolve or _resolve
        self._checked = float("-inf")
        self._ejected: dict[str, float] = {}

    async def ranked(self, name: str) -> list[str]:
        """All addresses, the best for this name first, those that just failed last."""
        addresses = await self._addresses()
        return sorted(addresses, key=lambda url: (self.is_ejected(url), _score(url, name)))

    def eject(self, url: str) -> None:
        """Puts an address at the end of the line for a moment."""
        now = self._clock()
        self._ejected = {known: end for known, end in self._ejected.items() if end > now}
        self._ejected[url] = now + _EJECT_SECONDS

    def is_ejected(self, url: str) -> bool:
        """Whether the address has just failed."""
        return self._ejected.get(url, float("-inf")) > self._clock()

    async def _addresses(self) -> list[str]:
        """All addresses; those of a name that can't be resolved now are the last ones that it had."""
        if self._clock() - self._checked >= _RESOLVE_SECONDS:
            for url in self._known:
                self._known[url] = await self._resolve(url) or self._known[url]
            self._checked = self._clock()
        return list(dict.fromkeys(address for found in self._known.values() for address in found))


def _score(url: str, name: str) -> bytes:
    return hashlib.sha256(f"{url}\n{name}".encode()).digest()


async def _resolve(url: str) -> list[str] | None:
    """One URL per address that an `http` name has, None when that can't be found out; others as they are."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname is None:
        return [url]
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(
            parts.hostname, parts.port or 80, type=socket.SOCK_STREAM
        )
    except socket.gaierror as problem:
        logger.warning("the name of the workers can't be resolved: %s", problem)
        return None
    addresses = sorted(
        {str(row[4][0]) for row in rows if row[0] in {socket.AF_INET, socket.AF_INET6}}
    )
    if len(addresses) <= 1 or parts.hostname == "localhost":
        return [url]
    port = parts.port or 80
    return [
        urlunsplit(
            (
                "http",
                f"[{address}]:{port}" if ":" in address else f"{address}:{port}",
                parts.path,
                "",
                "",
            )
        )
        for address in addresses
    ]


class Workers:
    """Asks workers for tool data."""

    def __init__(
        self,
        addresses: WorkerAddresses,
        credential: str,
        timeout_seconds: float,
        on_retry: Callable[[], None],
    ) -> None:
        self._addresses = addresses
        self._seconds = timeout_seconds
        self._on_retry = on_retry
        self._client = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {credential}"},
            timeout=httpx2.Timeout(timeout_seconds, connect=_CONNECT_SECONDS),
            limits=httpx2.Limits(
                max_connections=None, max_keepalive_connections=64, keepalive_expiry=_IDLE_SECONDS
            ),
            trust_env=False,
        )

    async def get(self, request: ToolRequest) -> WorkerAnswer:
        """The answer of the first worker that gives one.

        Raises:
            LoaderError: the worker's own reason, TIMED_OUT when none has begun to answer in time, BUSY when
                no worker is there, INTERNAL when they don't accept this front end.
        """
        body = ToolRequestBody.of(request).model_dump()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._first_answer("\n".join(request.locations), body)
        except (TimeoutError, httpx2.ReadTimeout) as problem:
            raise LoaderError(
                ErrorCode.TIMED_OUT,
                f"There was no answer within {self._seconds:g} seconds. Try again later: a conversion that "
                "has begun goes on.",
            ) from problem

    async def _first_answer(self, session: str, body: dict[str, object]) -> WorkerAnswer:
        for attempt in range(_TRIES):
            ranked = await self._addresses.ranked(session)
            if not ranked:
                break
            url = ranked[0]
            if attempt:
                self._on_retry()
                if self._addresses.is_ejected(url):
                    # All have just failed: a moment to come back. Another one is asked at once.
                    await asyncio.sleep(_RETRY_PAUSE_SECONDS)
            try:
                return await self._ask(url, body)
            except httpx2.ReadTimeout:
                raise  # It works on the answer; another one would begin anew.
            except (httpx2.TransportError, ConnectionError) as problem:
                logger.warning("worker %s did not answer: %r", url, problem)
                self._addresses.eject(url)
        raise LoaderError(
            ErrorCode.BUSY, "No worker answers at the moment. Try again in a few seconds."
        )

    async def _ask(self, url: str, body: dict[str, object]) -> WorkerAnswer:
        request = self._client.build_request("POST", url + TOOL_DATA_PATH, json=body)
        response = await self._client.send(request, stream=True)
        if response.status_code != httpx2.codes.OK:
            text = await response.aread()
            await response.aclose()
            raise _error_of(url, response.status_code, text)
        try:
            header, pieces = await _read_answer(response.aiter_raw())
        except BaseException:
            await response.aclose()
            raise
        key = response.headers.get(KEY_HEADER, "")
        return WorkerAnswer(key, header, pieces, response.aclose)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._client.aclose()


def _error_of(url: str, status: int, text: bytes) -> Exception:
    """The worker's error; anything that is not one (a proxy's page) counts as no answer."""
    if status == httpx2.codes.UNAUTHORIZED:
        logger.error(
            "worker %s refuses this front end: XPROF_HUB_SECRET_KEY is not the same on both", url
        )
        return LoaderError(
            ErrorCode.INTERNAL, "The worker does not accept this front end. Its log says why."
        )
    try:
        return ErrorBody.model_validate_json(text).to_error()
    except ValueError:
        return ConnectionError(f"status {status}")


async def _read_answer(
    pieces: AsyncIterator[bytes],
) -> tuple[ResultHeader, AsyncGenerator[bytes, None]]:
    """Reads the header; the rest stays to be read."""
    buffer = b""
    needed = _PREFIX.size
    while True:
        if len(buffer) >= _PREFIX.size:
            needed = _PREFIX.size + _PREFIX.unpack_from(buffer)[0]
        if len(buffer) >= needed > _PREFIX.size:
            break
        try:
            buffer += await anext(pieces)
        except StopAsyncIteration:
            raise ConnectionError("the worker's answer ended inside its header") from None
    try:
        header = ResultHeader.from_json(buffer[_PREFIX.size : needed])
    except ValueError as problem:
        raise ConnectionError(str(problem)) from problem
    return header, _rest(buffer[needed:], pieces, header.size)


async def _rest(
    first: bytes, pieces: AsyncIterator[bytes], size: int
) -> AsyncGenerator[bytes, None]:
    """The body; a body that ends too early is an error, so that nobody takes it for whole."""
    received = len(first)
    if first:
        yield first
    async for piece in pieces:
        received += len(piece)
        yield piece
    if received != size:
        raise ConnectionError("the worker's answer ended too early")
