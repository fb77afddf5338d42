"""HTTP servers that answer as told, in the place of workers, and a front end's side of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from loader.caches.results import ResultHeader
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from server.fleet.addresses import WorkerAddresses
from server.fleet.protocol import LATE_CONTENT_TYPE
from server.fleet.workers import Workers

REQUEST = ToolRequest(("gs://bucket/runs/r",), "overview_page", None, {})
BODY = b"a zstd body, opaque here"
HEADER = ResultHeader("application/json", len(BODY), 1000, ("one warning",))
Result = TypeVar("Result")

SILENCE = None
"""The server reads the request and says nothing."""
LATE = f"HTTP/1.1 200 x\r\nContent-Type: {LATE_CONTENT_TYPE}\r\nConnection: close\r\n\r\n".encode()
"""An answer that begins before it is there."""
HANG_UP = b""
"""The server reads the request and closes the connection, as a killed process does."""


def http(status: int, body: bytes, size: int | None = None) -> bytes:
    """An HTTP answer; `size` claims another length than the body has."""
    head = (
        f"HTTP/1.1 {status} x\r\nX-XProf-Hub-Key: k\r\nContent-Length: {size or len(body)}\r\n\r\n"
    )
    return head.encode() + body


def error(status: int, code: ErrorCode) -> bytes:
    return http(status, json.dumps({"code": code, "message": "why", "file": None}).encode())


GOOD = http(200, HEADER.to_bytes() + BODY)


class Server:
    """Reads requests and answers all of them alike."""

    def __init__(self) -> None:
        self.answer: bytes | None = SILENCE
        self.goes_on = False
        """Whether more is to come after the answer, and does not."""
        self.asked = 0
        self.bodies: list[dict[str, object]] = []
        self.heads: list[str] = []
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.heads.append(head)
            length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
            self.bodies.append(json.loads(await reader.readexactly(length)))
            self.asked += 1
            if self.answer is SILENCE:
                await reader.read()  # until the client gives up
            else:
                writer.write(self.answer)
                await writer.drain()
                if self.goes_on:
                    await reader.read()
        finally:
            writer.close()


class Setup:
    """Two servers and a front end's side of them; perhaps a large worker besides.

    Attributes:
        large: the large worker.
        retries: how often the front end turned to another worker.
    """

    def __init__(
        self, servers: list[Server], large: Server, seconds: float, silent: float, has_large: bool
    ) -> None:
        self.addresses = WorkerAddresses([server.url for server in servers])
        larger = WorkerAddresses([large.url]) if has_large else None
        self.workers = Workers(self.addresses, "credential", seconds, self._count, larger, silent)
        self.large = large
        self.servers = {server.url: server for server in servers}
        self.retries = 0

    def _count(self) -> None:
        self.retries += 1

    async def rank(self) -> tuple[Server, Server]:
        first, second = await self.addresses.ranked(REQUEST.locations[0])
        return self.servers[first], self.servers[second]


@asynccontextmanager
async def two_servers(
    seconds: float = 30.0, silent: float = 30.0, has_large: bool = False
) -> AsyncIterator[Setup]:
    servers = [Server(), Server(), Server()]
    listening = [await asyncio.start_server(one.handle, "127.0.0.1", 0) for one in servers]
    for server, socket in zip(servers, listening, strict=True):
        server.url = f"http://127.0.0.1:{socket.sockets[0].getsockname()[1]}"
    setup = Setup(servers[:2], servers[2], seconds, silent, has_large)
    try:
        yield setup
    finally:
        await setup.workers.aclose()
        for socket in listening:
            socket.close()


def run(test: Callable[[], Coroutine[None, None, Result]]) -> Result:
    return asyncio.run(test())


async def body_of(setup: Setup) -> bytes:
    answer = await setup.workers.get(REQUEST)
    try:
        assert (answer.key, answer.header) == ("k", HEADER)
        return b"".join([piece async for piece in answer.pieces])
    finally:
        await answer.close()


async def failure_of(setup: Setup) -> ErrorCode:
    with pytest.raises(LoaderError) as caught:
        await setup.workers.get(REQUEST)
    return caught.value.code
