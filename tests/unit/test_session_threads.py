"""One session that is asked for by very many at once keeps no other one waiting."""

from __future__ import annotations

import asyncio
import threading

import pytest

from server.fleet.session_threads import SessionThreads


def test_who_asks_for_another_session_is_answered_while_one_is_asked_for_by_many() -> None:
    async def test() -> None:
        threads = SessionThreads(most=4, share=3)
        done, begun = threading.Event(), threading.Semaphore(0)

        def wait() -> str:
            begun.release()
            assert done.wait(20)
            return "late"

        many = [asyncio.create_task(threads.run("many", wait)) for _ in range(50)]
        for _ in range(3):
            assert await asyncio.to_thread(begun.acquire, timeout=20)
        assert await asyncio.wait_for(threads.run("one", lambda: "at once"), 20) == "at once"
        # No fourth one has begun.
        assert not begun.acquire(blocking=False)
        done.set()
        assert await asyncio.gather(*many) == ["late"] * 50

    asyncio.run(test())


def test_a_failure_gives_its_place_back_and_nothing_is_kept_of_a_session() -> None:
    async def test() -> None:
        threads = SessionThreads(most=2, share=1)

        def fail() -> None:
            raise ValueError("no")

        for _ in range(3):
            with pytest.raises(ValueError, match="no"):
                await threads.run("session", fail)
        assert vars(threads)["_own"] == {}

    asyncio.run(test())
