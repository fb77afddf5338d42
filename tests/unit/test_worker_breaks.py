"""A worker that dies while its answer is on the way: the reader notices nothing if another has the same."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import httpx2
import pytest

from server.xprof.bodies import worker_body
from tests.worker_servers import BODY, HEADER, REQUEST, Setup, http, run, two_servers

SIGNED = replace(HEADER, digest=hashlib.sha256(BODY).hexdigest())
WHOLE = SIGNED.to_bytes() + BODY


async def read(setup: Setup, dead: str = "") -> bytes:
    """What a reader gets when a worker turns out to be dead after its answer has begun."""
    answer = await setup.workers.get(REQUEST)
    if dead:
        setup.addresses.eject(dead)  # As the next request finds out.
    body = worker_body(answer, lambda: setup.workers.get(REQUEST))
    try:
        return b"".join([piece async for piece in body.pieces])
    finally:
        await body.close()


@pytest.mark.parametrize("length", [0, 1, 7, len(BODY) - 1])
def test_another_worker_goes_on_where_one_broke_off(length: int) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            cut = SIGNED.to_bytes() + BODY[:length]
            first.answer, second.answer = http(200, cut, len(WHOLE)), http(200, WHOLE)
            assert await read(setup, first.url) == BODY
            assert (first.asked, second.asked) == (1, 1)

    run(test)


def test_an_answer_that_is_not_the_same_is_never_mixed_in() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            cut = SIGNED.to_bytes() + BODY[:7]
            other = replace(SIGNED, digest=hashlib.sha256(b"other").hexdigest())
            first.answer, second.answer = (
                http(200, cut, len(WHOLE)),
                http(200, other.to_bytes() + BODY),
            )
            with pytest.raises(ConnectionError, match="not the one"):
                await read(setup, first.url)

    run(test)


def test_a_worker_that_breaks_off_each_time_is_not_asked_for_ever() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            cut = SIGNED.to_bytes() + BODY[:7]
            first.answer = second.answer = http(200, cut, len(WHOLE))
            with pytest.raises((ConnectionError, httpx2.TransportError)):
                await read(setup)
            assert first.asked + second.asked == 2

    run(test)
