"""Workers whose disks are full: the next one is asked, for what did not fit, and nobody waits for nothing."""

from __future__ import annotations

import pytest

from loader.errors import ErrorCode
from server.fleet.protocol import BEAT, ErrorBody, LateHead
from tests.worker_servers import (
    BODY,
    GOOD,
    HANG_UP,
    LATE,
    body_of,
    error,
    failure_of,
    http,
    run,
    two_servers,
)

FULL = error(503, ErrorCode.WORKER_FULL)
LATE_FULL = LateHead(
    error=ErrorBody(code=ErrorCode.WORKER_FULL, message="why", file=None)
).to_frame()


@pytest.mark.parametrize("full", [FULL, LATE + BEAT + LATE_FULL])
def test_one_whose_disk_is_full_is_passed_over_for_what_did_not_fit(full: bytes) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = full, GOOD
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked, setup.retries) == (1, 1, 1)
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked, setup.retries) == (1, 2, 1)
            assert not setup.addresses.is_ejected(first.url)

    run(test)


def test_when_all_are_full_each_is_asked_once_and_its_words_are_the_answer() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer = second.answer = FULL
            for times in (1, 2):
                assert await failure_of(setup) is ErrorCode.WORKER_FULL
                assert (first.asked, second.asked) == (times, times)
            second.answer = GOOD
            assert await body_of(setup) == BODY

    run(test)


def test_one_that_is_full_is_said_rather_than_one_that_is_gone() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = HANG_UP, FULL
            assert await failure_of(setup) is ErrorCode.WORKER_FULL
            assert second.asked == 1

    run(test)


def test_an_older_front_end_takes_a_word_that_it_does_not_know_for_no_answer() -> None:
    """So one whose disk is full is passed over by it, too."""

    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            unknown = b'{"code": "a word of a later version", "message": "", "file": null}'
            first.answer, second.answer = http(503, unknown), GOOD
            assert await body_of(setup) == BODY

    run(test)
