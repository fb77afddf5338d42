"""Workers that say nothing, or only that they live, against HTTP servers that answer as told."""

from __future__ import annotations

import httpx2
import pytest

from loader.errors import ErrorCode, LoaderError
from server.fleet.protocol import BEAT, ErrorBody, LateHead
from tests.worker_servers import (
    BODY,
    GOOD,
    HEADER,
    LATE,
    REQUEST,
    SILENCE,
    body_of,
    failure_of,
    run,
    two_servers,
)

SILENT = 0.3
"""Seconds: short, and longer than a busy machine keeps this process from its turn."""


@pytest.mark.parametrize(
    "heard", [SILENCE, b"HTTP/1.1 200", LATE, LATE + BEAT * 3, GOOD[: GOOD.index(b"{") + 5]]
)
def test_a_worker_that_stands_still_costs_a_moment_and_is_passed_over(heard: bytes | None) -> None:
    async def test() -> None:
        async with two_servers(silent=SILENT) as setup:
            first, second = await setup.rank()
            first.answer, first.goes_on, second.answer = heard, True, GOOD
            assert await body_of(setup) == BODY
            assert setup.retries == 1
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked) == (1, 2)
            assert setup.addresses.is_ejected(first.url)

    run(test)


def test_workers_that_all_stand_still_are_busy_long_before_the_limit() -> None:
    async def test() -> None:
        async with two_servers(seconds=30, silent=SILENT) as setup:
            first, second = await setup.rank()
            assert await failure_of(setup) is ErrorCode.BUSY
            assert (first.asked, second.asked) == (2, 2)

    run(test)


def test_a_body_that_stands_still_is_never_taken_for_whole() -> None:
    async def test() -> None:
        async with two_servers(silent=SILENT) as setup:
            first, _ = await setup.rank()
            first.answer, first.goes_on = GOOD[:-3], True
            with pytest.raises(httpx2.TransportError):
                await body_of(setup)

    run(test)


def test_an_answer_that_comes_late_is_the_same_one() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer = LATE + BEAT * 2 + LateHead(key="k").to_frame() + HEADER.to_bytes() + BODY
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked, setup.retries) == (1, 0, 0)

    run(test)


@pytest.mark.parametrize("code", [ErrorCode.MALFORMED, ErrorCode.INTERNAL, ErrorCode.BUSY])
def test_an_error_that_comes_late_is_the_answer(code: ErrorCode) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            head = LateHead(error=ErrorBody(code=code, message="why", file="a.xplane.pb"))
            first.answer, second.answer = LATE + BEAT + head.to_frame(), GOOD
            with pytest.raises(LoaderError, match="why") as caught:
                await setup.workers.get(REQUEST)
            assert (caught.value.code, caught.value.file) == (code, "a.xplane.pb")
            assert second.asked == 0
            assert not setup.addresses.is_ejected(first.url)

    run(test)
