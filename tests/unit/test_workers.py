"""Which worker is asked, how long, and how often, against HTTP servers that answer as told."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.turns.admission import Urgency
from server.fleet.addresses import WorkerAddresses
from server.fleet.protocol import BEAT
from server.fleet.workers import Workers
from tests.worker_servers import (
    BODY,
    GOOD,
    HANG_UP,
    HEADER,
    LATE,
    REQUEST,
    SILENCE,
    body_of,
    error,
    failure_of,
    http,
    run,
    two_servers,
)


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
            first.answer, first.goes_on, second.answer = LATE + BEAT, True, GOOD
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


def test_a_wrong_secret_is_said_and_no_worker_asked_twice(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer = second.answer = http(401, b"This is for front ends.")
            assert await failure_of(setup) is ErrorCode.INTERNAL
            assert (first.asked, second.asked) == (1, 1)

    run(test)
    records = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(records) == 2
    assert all("XPROF_HUB_SECRET_KEY" in record.getMessage() for record in records)
    assert "credential" not in caplog.text


def test_a_worker_with_another_secret_is_named_and_others_do_its_work(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = http(401, b"This is for front ends."), GOOD
            assert await body_of(setup) == BODY
            assert (first.asked, second.asked, setup.retries) == (1, 1, 1)
            assert first.url in caplog.text

    run(test)


def test_who_is_refused_by_one_and_not_heard_by_the_others_may_come_back() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer, second.answer = http(401, b"This is for front ends."), HANG_UP
            assert await failure_of(setup) is ErrorCode.BUSY
            assert first.asked == 1

    run(test)


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
            asked = (first.bodies[0], setup.large.bodies[0])
            assert [body["is_large"] for body in asked] == [False, True]
            # Only the last one may leave out hosts that are too large for it.
            assert [body["is_last"] for body in asked] == [False, True]
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
            assert first.bodies[0]["is_last"] is True

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
        # What Cloud Run and other balancers say when no instance is free, starts, or answers.
        http(429, b"Rate exceeded."),
        http(500, b"Internal Server Error"),
        http(503, b"This worker is being stopped."),
        http(504, b"<html>upstream request timeout</html>"),
        http(200, b"no header at all"),
        http(200, HEADER.to_bytes()[:20], size=500),
        LATE + BEAT,  # it is being stopped
        LATE + BEAT + b"\0\0\0\2{]",
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


@pytest.mark.parametrize("status", [401, 403])
def test_a_platform_that_wants_to_know_who_calls_is_said_and_not_tried_again(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, _ = await setup.rank()
            first.answer = http(status, b"<html>Forbidden</html>")
            alone = Workers(WorkerAddresses([first.url]), "credential", 30.0, lambda: None)
            with pytest.raises(LoaderError) as caught:
                await alone.get(REQUEST)
            await alone.aclose()
            assert (caught.value.code, first.asked) == (ErrorCode.INTERNAL, 1)

    run(test)
    assert "XPROF_HUB_WORKER_IDENTITY" in caplog.text


def test_one_address_for_all_workers_is_asked_again_until_one_has_started() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            second.answer = GOOD
            alone = Workers(WorkerAddresses([first.url]), "credential", 30.0, lambda: None)
            first.answer = http(429, b"Rate exceeded.")
            asking = asyncio.create_task(alone.get(REQUEST))
            while first.asked < 2:
                await asyncio.sleep(0.01)
            first.answer = GOOD
            answer = await asking
            await answer.close()
            await alone.aclose()
            assert (answer.key, first.asked) == ("k", 3)

    run(test)


def test_no_free_worker_behind_one_address_is_busy_and_says_when_to_come_back() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, _ = await setup.rank()
            first.answer = http(429, b"Rate exceeded.")
            alone = Workers(WorkerAddresses([first.url]), "credential", 30.0, lambda: None)
            began = time.monotonic()
            with pytest.raises(LoaderError) as caught:
                await alone.get(REQUEST)
            waited = time.monotonic() - began
            await alone.aclose()
            assert (caught.value.code, caught.value.retry_after) == (ErrorCode.BUSY, 5)
            assert first.asked == 4
            # Pauses of a half, one and two seconds, each cut by up to a half.
            assert 1.75 <= waited < 29

    run(test)


def test_a_fleet_that_is_gone_is_not_asked_to_death() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, second = await setup.rank()
            first.answer = second.answer = HANG_UP
            began = time.monotonic()
            requests = [asyncio.create_task(failure_of(setup)) for _ in range(100)]
            codes = await asyncio.gather(*requests)
            seconds = time.monotonic() - began
            assert codes == [ErrorCode.BUSY] * 100
            # Each asks both once at most before it has to pause: 200. Then there are 30, and 3 in each of the
            # few seconds that it takes; four attempts for each would be 400.
            assert first.asked + second.asked <= 200 + 30 + 3 * (seconds + 1)

    run(test)


def test_a_front_end_that_ends_sends_away_who_still_waits() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, _ = await setup.rank()
            waiting = asyncio.create_task(failure_of(setup))
            while not first.asked:
                await asyncio.sleep(0.01)
            setup.workers.give_up()
            assert await asyncio.wait_for(waiting, 20) is ErrorCode.BUSY
            assert await failure_of(setup) is ErrorCode.BUSY
            assert first.asked == 1

    run(test)


def test_an_answer_that_has_begun_goes_on_when_the_front_end_ends() -> None:
    async def test() -> None:
        async with two_servers() as setup:
            first, _ = await setup.rank()
            first.answer = GOOD
            answer = await setup.workers.get(REQUEST)
            setup.workers.give_up()
            assert b"".join([piece async for piece in answer.pieces]) == BODY
            await answer.close()

    run(test)
