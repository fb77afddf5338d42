"""Work that goes on for somebody who comes back: once, told once, and not without end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from loader.errors import ErrorCode, LoaderError
from server.xprof.deferred import Deferred

LONG = 30.0
"""Seconds that no test waits: the work ends, or the caller does not wait at all."""


OWNER = "a session"


class Work:
    """Work that ends when told to."""

    def __init__(self) -> None:
        self.started = 0
        self.error: LoaderError | None = None
        self._end = asyncio.Event()

    async def __call__(self) -> None:
        self.started += 1
        await self._end.wait()
        if self.error is not None:
            raise self.error

    def end(self, error: LoaderError | None = None) -> None:
        self.error = error
        self._end.set()


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def run(test: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(test())


async def settle() -> None:
    """Lets everything that can happen now happen."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_work_goes_on_when_the_caller_has_gone_and_is_done_once() -> None:
    async def test() -> None:
        deferred, work = Deferred(), Work()
        assert not await deferred.finish("k", work, 0, OWNER)
        assert not await deferred.finish("k", work, 0, OWNER)
        assert deferred.is_running("k")
        work.end()
        assert await deferred.finish("k", work, LONG, OWNER)
        assert work.started == 1
        assert not deferred.is_running("k")

    run(test)


def test_a_patient_caller_gets_it_at_once() -> None:
    async def test() -> None:
        deferred, work = Deferred(), Work()
        work.end()
        assert await deferred.finish("k", work, LONG, OWNER)

    run(test)


def test_a_failure_reaches_the_one_who_comes_back_and_then_it_is_tried_again() -> None:
    async def test() -> None:
        deferred, work = Deferred(), Work()
        assert not await deferred.finish("k", work, 0, OWNER)
        work.end(LoaderError(ErrorCode.NEEDS_LARGER_WORKER, "too large"))
        await settle()
        assert not deferred.is_running("k")
        with pytest.raises(LoaderError) as caught:
            await deferred.finish("k", work, 0, OWNER)
        assert caught.value.code is ErrorCode.NEEDS_LARGER_WORKER
        again = Work()
        assert not await deferred.finish("k", again, 0, OWNER)
        await settle()
        assert again.started == 1
        await deferred.aclose()

    run(test)


def test_an_end_that_nobody_came_back_for_is_forgotten() -> None:
    async def test() -> None:
        clock = Clock()
        deferred, work = Deferred(clock=clock), Work()
        assert not await deferred.finish("k", work, 0, OWNER)
        work.end(LoaderError(ErrorCode.BUSY, "busy"))
        await settle()
        clock.now += 61
        again = Work()
        assert not await deferred.finish("k", again, 0, OWNER)
        await deferred.aclose()

    run(test)


def test_too_many_at_once_are_refused() -> None:
    async def test() -> None:
        deferred, work = Deferred(most=1), Work()
        assert not await deferred.finish("k", work, 0, OWNER)
        with pytest.raises(LoaderError) as caught:
            await deferred.finish("other", work, 0, OWNER)
        assert caught.value.code is ErrorCode.BUSY
        await deferred.aclose()

    run(test)


def test_one_session_takes_its_share_and_no_more() -> None:
    async def test() -> None:
        deferred, work = Deferred(most=8, share=2), Work()
        for key in ("a", "b"):
            assert not await deferred.finish(key, work, 0, "greedy")
        with pytest.raises(LoaderError) as caught:
            await deferred.finish("c", work, 0, "greedy")
        assert caught.value.code is ErrorCode.BUSY
        # Others begin, and who asks for what is being made already waits with the rest.
        assert not await deferred.finish("d", work, 0, "modest")
        assert not await deferred.finish("a", work, 0, "greedy")
        await deferred.aclose()

    run(test)


def test_what_has_ended_takes_no_place_of_its_share() -> None:
    async def test() -> None:
        deferred, work = Deferred(most=8, share=2), Work()
        for key in ("a", "b"):
            assert not await deferred.finish(key, work, 0, "greedy")
        work.end(LoaderError(ErrorCode.TIMED_OUT, "too slow"))
        await settle()
        for key in ("c", "d"):
            assert not await deferred.finish(key, Work(), 0, "greedy")
        # How the first ones ended is still told.
        with pytest.raises(LoaderError, match="too slow"):
            await deferred.finish("a", Work(), 0, "greedy")
        await deferred.aclose()

    run(test)


def test_ends_that_nobody_came_back_for_make_room() -> None:
    async def test() -> None:
        deferred, work = Deferred(most=1), Work()
        assert not await deferred.finish("k", work, 0, OWNER)
        work.end()
        await settle()
        assert not await deferred.finish("other", Work(), 0, OWNER)
        await deferred.aclose()

    run(test)


def test_two_who_wait_for_one_failure_leave_a_new_attempt_alone() -> None:
    async def test() -> None:
        deferred, work, again = Deferred(), Work(), Work()

        async def try_twice() -> None:
            with pytest.raises(LoaderError):
                await deferred.finish("k", work, LONG, OWNER)
            assert not await deferred.finish("k", again, 0, OWNER)

        async def try_once() -> None:
            with pytest.raises(LoaderError):
                await deferred.finish("k", work, LONG, OWNER)

        waiting = [asyncio.create_task(call()) for call in (try_twice, try_once)]
        await settle()
        work.end(LoaderError(ErrorCode.BUSY, "busy"))
        await asyncio.gather(*waiting)
        assert deferred.is_running("k")
        await deferred.aclose()

    run(test)


def test_closing_ends_what_is_under_way() -> None:
    async def test() -> None:
        deferred, work = Deferred(), Work()
        assert not await deferred.finish("k", work, 0, OWNER)
        await deferred.aclose()
        assert not deferred.is_running("k")
        assert len(asyncio.all_tasks()) == 1

    run(test)
