"""Connections that take more than a fair share end by themselves: long heads, dripping bytes, idle readers.

What is too long or too slow is made small here, so that a second shows what a minute does in a hub.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from server.http import limited_body
from server.http.connections import GuardedConnection
from server.http.limited_body import read_limited_body
from tests.services.hub import DemoHub

_IDLE_SECONDS = 1
_PIECE = b"x" * 65_536
_WHOLE_BYTES = 24 << 20


class _Hasty(GuardedConnection):
    head_seconds = 0.4
    stalled_seconds = 2.0  # long enough for a test that is slow itself


async def _small(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("here")


async def _later(_request: Request) -> PlainTextResponse:
    await asyncio.sleep(0.05)
    return PlainTextResponse("here")


async def _headers(request: Request) -> PlainTextResponse:
    await request.body()
    return PlainTextResponse(" ".join(request.headers.keys()))


async def _echo(request: Request) -> PlainTextResponse:
    try:
        return PlainTextResponse(str(len(await read_limited_body(request))))
    except ClientDisconnect:
        return PlainTextResponse("too slow", 400)


async def _long(_request: Request) -> StreamingResponse:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(2000):
            yield _PIECE

    return StreamingResponse(pieces())


async def _whole(_request: Request) -> Response:
    return Response(b"x" * _WHOLE_BYTES)


@pytest.fixture(scope="module")
def server() -> Iterator[uvicorn.Server]:
    """One with small limits."""
    listener = socket.create_server(("127.0.0.1", 0))
    routes = [
        Route("/small", _small, methods=["GET", "POST"]),
        Route("/later", _later),
        Route("/headers", _headers, methods=["POST"]),
        Route("/echo", _echo, methods=["POST"]),
        Route("/long", _long),
        Route("/whole", _whole),
    ]
    config = uvicorn.Config(
        Starlette(routes=routes),
        http=_Hasty,
        ws="none",
        log_config=None,
        timeout_keep_alive=_IDLE_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    _wait_for(lambda: server.started)
    yield server
    server.should_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def address(server: uvicorn.Server) -> tuple[str, int]:
    """Where it listens."""
    _wait_for(lambda: not server.server_state.connections)
    host, port = server.servers[0].sockets[0].getsockname()
    return host, port


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def _connect(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=20)


def _all_of(connection: socket.socket) -> bytes:
    """What comes until the other end closes; a connection that is reset is closed, too."""
    received = b""
    try:
        while piece := connection.recv(65_536):
            received += piece
    except ConnectionResetError:
        pass
    return received


_IN_CHUNKS = b"POST /headers HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("line", [b"a\r\nX-Much: ", b"a"], ids=["many fields", "one endless field"])
@pytest.mark.parametrize(
    "start",
    [b"GET /small HTTP/1.1\r\nX-First: ", _IN_CHUNKS + b"0\r\nX-First: ", _IN_CHUNKS + b"5;x="],
    ids=["head", "tail", "wrapping"],
)
def test_what_is_no_body_and_has_no_end_is_not_kept(
    address: tuple[str, int], start: bytes, line: bytes
) -> None:
    line *= 8000
    with _connect(address) as connection:
        connection.sendall(start)
        sent = 0
        try:
            while sent < 64 << 20:
                sent += connection.send(line)
        except OSError:
            pass
        # What the kernel holds on its way comes on top of the 64 KiB that the server takes.
        assert sent < 16 << 20


def test_requests_that_come_before_their_turn_wait_for_it_and_are_not_many(
    server: uvicorn.Server, address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    def answers(count: int) -> int:
        request = b"GET /later HTTP/1.1\r\n\r\n"
        last = b"GET /later HTTP/1.1\r\nConnection: close\r\n\r\n"
        with _connect(address) as connection:
            connection.sendall(request * (count - 1) + last)
            return _all_of(connection).count(b"HTTP/1.1 200")

    assert answers(20) == 20
    assert answers(2000) < 200
    _wait_for(lambda: not (server.server_state.connections or server.server_state.tasks))
    # Whoever ends so fills no log: nothing was written to a connection that is closed.
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_what_follows_a_body_is_no_header(address: tuple[str, int]) -> None:
    with _connect(address) as connection:
        connection.sendall(_IN_CHUNKS + b"2\r\nab\r\n0\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n")
        answer = b""
        while not answer.endswith(b"transfer-encoding"):
            piece = connection.recv(65_536)
            assert piece, answer
            answer += piece
        assert answer.startswith(b"HTTP/1.1 200")


def test_more_headers_than_anybody_sends_are_refused(address: tuple[str, int]) -> None:
    def answer(count: int) -> bytes:
        headers = b"".join(b"x-%d: 1\r\n" % number for number in range(count))
        with _connect(address) as connection:
            connection.sendall(b"GET /small HTTP/1.1\r\nConnection: close\r\n" + headers + b"\r\n")
            return _all_of(connection)

    assert answer(150).startswith(b"HTTP/1.1 200")
    assert answer(300).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\r\n",
        b"GET /sm",
        b"GET /small HTTP/1.1\r\nHost: he",
        b"GET /small HTTP/1.1\r\n\r\n",
        b"POST /small HTTP/1.1\r\nContent-Length: 9\r\n\r\n123",
    ],
    ids=["nothing", "line breaks", "a line", "headers", "then nothing", "a body that nobody reads"],
)
def test_who_goes_on_slowly_or_not_at_all_is_ended(address: tuple[str, int], start: bytes) -> None:
    """Each byte that comes in time begins no new time."""
    with _connect(address) as connection:
        connection.sendall(start)
        ended = threading.Event()

        def drip() -> None:
            while not ended.wait(0.1):
                try:
                    connection.send(b"\n" if not start.strip() else b"1")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        if start and not start.endswith(b"HTTP/1.1\r\n\r\n"):
            dripping.start()
        try:
            _all_of(connection)  # it times out, if the server goes on waiting
        finally:
            ended.set()
            if dripping.ident:
                dripping.join()


def test_a_body_that_drips_is_given_up(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limited_body, "BODY_SECONDS", 0.4)
    with _connect(address) as connection:
        connection.sendall(b"POST /echo HTTP/1.1\r\nContent-Length: 9\r\n\r\n1")
        assert _all_of(connection).endswith(b"too slow")


def test_a_reader_who_does_not_read_is_ended(
    server: uvicorn.Server, address: tuple[str, int]
) -> None:
    with _connect(address) as connection:
        connection.sendall(b"GET /long HTTP/1.1\r\n\r\n")
        connection.recv(1)
        _wait_for(lambda: not server.server_state.connections)
        assert len(_all_of(connection)) < 2000 * len(_PIECE)


def test_a_reader_who_reads_slowly_gets_all(address: tuple[str, int]) -> None:
    """An answer may be one long piece, whose last byte is read long after the time for standing still."""
    with _connect(address) as connection:
        connection.sendall(b"GET /whole HTTP/1.1\r\nConnection: close\r\n\r\n")
        began, received, pauses = time.monotonic(), 0, 0
        while piece := connection.recv(1 << 20):
            received += len(piece)
            if received >> 20 > pauses:
                pauses += 1
                time.sleep(0.12)
        assert received > _WHOLE_BYTES
        assert time.monotonic() - began > _Hasty.stalled_seconds


def test_a_long_body_in_many_pieces_counts_as_no_head(address: tuple[str, int]) -> None:
    body = b"b" * 400_000
    with _connect(address) as connection:
        for _ in range(2):  # one connection, again and again
            connection.sendall(b"POST /echo HTTP/1.1\r\nContent-Length: 400000\r\n\r\n" + body)
            answer = b""
            while b"400000" not in answer.partition(b"\r\n\r\n")[2]:
                answer += connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 200")


def test_who_asks_for_a_websocket_is_answered_as_anybody(address: tuple[str, int]) -> None:
    with _connect(address) as connection:
        connection.sendall(
            b"GET /small HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


def test_a_hub_has_these_limits(demo_hub: DemoHub) -> None:
    host, port = demo_hub.url.removeprefix("http://").split(":")
    with _connect((host, int(port))) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX-Much: " + b"a" * 200_000)
        assert _all_of(connection).startswith(b"HTTP/1.1 400")
