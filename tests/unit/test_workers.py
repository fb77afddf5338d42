"""Which worker is asked, how long, and how often, against HTTP servers that answer as told."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from loader.admission import Urgency
from loader.errors import ErrorCode, LoaderError
from loader.keys import ToolRequest
from loader.results import ResultHeader
from server.worker_addresses import WorkerAddresses
from server.workers import Workers

REQUEST = ToolRequest(("gs://bucket/runs/r",), "overview_page", None, {})
BODY = b"a zstd body, opaque here"
HEADER = ResultHeader("application/json", len(BODY), 1000, ("one warning",))
Result = TypeVar("Result")

SILENCE = None
"""The server reads the request and says nothing."""
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
        self.asked = 0
        self.bodies: list[dict[str, object]] = []
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.split("content-length: ")[1].split("\r\n")[0])
            self.bodies.append(json.loads(await reader.readexactly(length)))
            self.asked += 1
            if self.answer is SILENCE:
                await reader.read()  # until the client gives up
            else:
                writer.write(self.answer)
                await writer.drain()
        finally:
            writer.close()


class Setup:
    """Two servers and a front end's side of them; perhaps a large worker besides.

    Attributes:
        large: the large worker.
        retries: how often the front end turned to another worker.
    """

    def __init__(
        self, servers: list[Server], large: Server, seconds: float, has_large: bool
    ) -> None:
        self.addresses = WorkerAddresses([server.url for server in servers])
        larger = WorkerAddresses([large.url]) if has_large else None
        self.workers = Workers(self.addresses, "credential", seconds, self._count, larger)
        self.large = large
        self.servers = {server.url: server for server in servers}
        self.retries = 0

    def _count(self) -> None:
        self.retries += 1

    async def rank(self) -> tuple[Server, Server]:
        first, second = await self.addresses.ranked(REQUEST.locations[0])
        return self.servers[first], self.servers[second]


@asynccontextmanager
async def two_servers(seconds: float = 30.0, has_large: bool = False) -> AsyncIterator[Setup]:
    servers = [Server(), Server(), Server()]
    listening = [await asyncio.start_server(one.handle, "127.0.0.1", 0) for one in servers]
    for server, socket in zip(servers, listening, strict=True):
        server.url = f"http://127.0.0.1:{socket.sockets[0].getsockname()[1]}"
    setup = Setup(servers[:2], servers[2], seconds, has_large)
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


def test_an_answer_comes_whole_from_the_first_worker() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer = GOOD
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked, setup.retries) == (1, 0, 0)

    run(test)


def test_a_worker_that_hangs_up_costs_a_retry_and_is_passed_over() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = HANG_UP, GOOD
            assert await body_of(setup) == BODY
            assert setup.retries == 1
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked) == (1, 2)

    run(test)


def test_a_slow_worker_is_waited_for_once_and_not_passed_over() -> None:
    async def test() -> None:
        async with two_servers(seconds=0.3) as setup:
            first, second = await setup.rank()
            first.answer, second.answer = SILENCE, GOOD
            assert await failure_of(setup) is ErrorCode.TIMED_OUT
            assert (first.asked, second.asked, setup.retries) == (1, 0, 0)
            assert not setup.addresses.is_ejected(first.url)

    run(test)


def test_the_limit_holds_for_all_attempts_together() -> None:
    async def test() -> None:
        async with two_servers(seconds=0.3) as setup:
            first, second = await setup.rank()
            first.answer, second.answer = HANG_UP, SILENCE
            assert await failure_of(setup) is ErrorCode.TIMED_OUT
            assert (first.asked, second.asked, setup.retries) == (1, 1, 1)

    run(test)


def test_no_worker_at_all_is_busy_after_a_few_attempts() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = HANG_UP, HANG_UP
            assert await failure_of(setup) is ErrorCode.BUSY
            assert setup.retries == 3
            assert first.asked + second.asked == 4

    run(test)


def test_a_wrong_secret_is_said_and_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = http(401, b"This is for front ends."), GOOD
            assert await failure_of(setup) is ErrorCode.INTERNAL
            assert (first.asked, second.asked, setup.retries) == (1, 0, 0)

    run(test)
    (record,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "XPROF_HUB_SECRET_KEY" in record.getMessage()
    assert "credential" not in caplog.text


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (error(500, ErrorCode.INTERNAL), ErrorCode.INTERNAL),
        (error(422, ErrorCode.MALFORMED), ErrorCode.MALFORMED),
        (error(503, ErrorCode.BUSY), ErrorCode.BUSY),
    ],
)
def test_a_workers_own_error_is_the_answer(answer: bytes, code: ErrorCode) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = answer, GOOD
            assert await failure_of(setup) is code
            assert (first.asked, second.asked, setup.retries) == (1, 0, 0)

    run(test)


WANTS_MEMORY = [ErrorCode.NEEDS_LARGER_WORKER, ErrorCode.OUT_OF_MEMORY]


@pytest.mark.parametrize("code", WANTS_MEMORY)
def test_what_wants_more_memory_goes_to_a_large_worker_and_nobody_is_passed_over(
    code: ErrorCode,
) -> None:
    async def test() -> None:
        async with two_servers(has_large=True) as setup:
            first, second = await setup.rank()
            first.answer, second.answer, setup.large.answer = error(507, code), GOOD, GOOD
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked, setup.large.asked) == (1, 0, 1)
            assert (first.bodies[0]["is_large"], setup.large.bodies[0]["is_large"]) == (False, True)
            assert not setup.addresses.is_ejected(first.url)
            assert setup.retries == 0

    run(test)


@pytest.mark.parametrize("code", WANTS_MEMORY)
def test_without_a_large_worker_the_reason_is_the_answer(code: ErrorCode) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = error(507, code), GOOD
            assert await failure_of(setup) is code
            assert (second.asked, setup.large.asked) == (0, 0)

    run(test)


def test_the_large_workers_failure_is_final() -> None:
    async def test() -> None:
        async with two_servers(has_large=True) as setup:
            first, _ = await setup.rank()
            first.answer = error(507, ErrorCode.NEEDS_LARGER_WORKER)
            setup.large.answer = error(507, ErrorCode.OUT_OF_MEMORY)
            assert await failure_of(setup) is ErrorCode.OUT_OF_MEMORY
            assert setup.large.asked == 1

    run(test)


def test_other_failures_do_not_bother_the_large_worker() -> None:
    async def test() -> None:
        async with two_servers(has_large=True) as setup:
            first, _ = await setup.rank()
            first.answer = error(504, ErrorCode.TIMED_OUT)
            assert await failure_of(setup) is ErrorCode.TIMED_OUT
            assert setup.large.asked == 0

    run(test)


def test_whoever_knows_that_memory_is_short_asks_the_large_worker_only() -> None:
    async def test() -> None:
        async with two_servers(has_large=True) as setup:
            first, second = await setup.rank()
            setup.large.answer = GOOD
            answer = await setup.workers.get(REQUEST, is_large=True)
            await answer.close()
            assert (first.asked, second.asked, setup.large.asked) == (0, 0, 1)

    run(test)


def test_a_worker_is_told_that_nobody_waits() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, _ = await setup.rank()
            first.answer = GOOD
            answer = await setup.workers.get(REQUEST, Urgency.PREWARM)
            await answer.close()
            assert first.bodies[0]["urgency"] == "prewarm"

    run(test)


@pytest.mark.parametrize(
    "answer",
    [
        http(502, b"<html>Bad gateway</html>"),
        http(200, b"no header at all"),
        http(200, HEADER.to_bytes()[:20], size=500),
    ],
)
def test_what_is_no_workers_answer_costs_a_retry(answer: bytes) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = answer, GOOD
            assert await body_of(setup) == BODY
            assert setup.retries == 1

    run(test)


def test_a_body_that_ends_early_is_never_taken_for_whole() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, _ = await setup.rank()
            first.answer = http(200, HEADER.to_bytes() + BODY[:5])
            with pytest.raises(ConnectionError):
                await body_of(setup)

    run(test)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_ejected_address_is_last_for_a_moment_and_then_forgotten() -> None:
    async def test() -> None:
        clock = Clock()
        addresses = WorkerAddresses(["https://a", "https://b", "https://c/"], clock)
        order = await addresses.ranked("session")
        assert sorted(order) == ["https://a", "https://b", "https://c"]
        addresses.eject(order[0])
        assert await addresses.ranked("session") == [*order[1:], order[0]]
        clock.now += 3.0
        assert await addresses.ranked("session") == order
        addresses.eject(order[1])
        assert not addresses.is_ejected(order[0])
        assert addresses.is_ejected(order[1])

    run(test)


def test_sessions_spread_and_stay_when_a_worker_comes() -> None:
    async def test() -> None:
        few = WorkerAddresses(["https://a", "https://b"])
        more = WorkerAddresses(["https://a", "https://b", "https://c"])
        names = [f"session {number}" for number in range(60)]
        before = {name: (await few.ranked(name))[0] for name in names}
        after = {name: (await more.ranked(name))[0] for name in names}
        assert set(before.values()) == {"https://a", "https://b"}
        # Rendezvous hashing: who moves, moves to the new one.
        assert {after[name] for name in names if after[name] != before[name]} == {"https://c"}

    run(test)


def test_known_addresses_are_kept_while_the_name_cannot_be_resolved() -> None:
    found: list[list[str] | None] = [["http://10.0.0.1:80", "http://10.0.0.2:80"], None, None]
    found.append(["http://10.0.0.3:80"])

    async def resolve(url: str) -> list[str] | None:
        assert url == "http://workers"
        return found.pop(0)

    async def test() -> None:
        clock = Clock()
        addresses = WorkerAddresses(["http://workers"], clock, resolve)
        first = sorted(await addresses.ranked("x"))
        assert first == ["http://10.0.0.1:80", "http://10.0.0.2:80"]
        for _ in range(2):
            clock.now += 5.0
            assert sorted(await addresses.ranked("x")) == first
        clock.now += 5.0
        assert await addresses.ranked("x") == ["http://10.0.0.3:80"]
        assert found == []

    run(test)


def test_a_name_that_was_never_resolved_is_asked_as_it_is() -> None:
    async def resolve(_url: str) -> list[str] | None:
        return None

    async def test() -> None:
        addresses = WorkerAddresses(["http://workers:8080"], Clock(), resolve)
        assert await addresses.ranked("x") == ["http://workers:8080"]

    run(test)
