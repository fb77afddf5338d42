"""Which address is asked first, and for how long one that failed is passed over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine

import pytest

import server.fleet.addresses as addresses_module
from server.fleet.addresses import WorkerAddresses


def run(test: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(test())


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


def test_an_address_that_stood_still_is_passed_over_for_longer_each_time() -> None:
    async def test() -> None:
        clock = Clock()
        addresses = WorkerAddresses(["https://a", "https://b"], clock)
        first, second = await addresses.ranked("session")
        for seconds in (10, 20, 40, 80, 120, 120):
            # All who waited for it find it out within a moment: that is one time.
            addresses.eject_silent(first)
            clock.now += 1
            addresses.eject_silent(first)
            clock.now += seconds - 0.5
            assert await addresses.ranked("session") == [second, first]
            clock.now += 0.5
            assert await addresses.ranked("session") == [first, second]

    run(test)


def test_one_request_tries_an_address_that_stood_still_and_the_others_wait_for_what_it_hears() -> (
    None
):
    async def test() -> None:
        clock = Clock()
        addresses = WorkerAddresses(["https://a", "https://b"], clock)
        first, second = await addresses.ranked("session")
        addresses.eject_silent(first)
        clock.now += 10
        addresses.begin(first)
        assert await addresses.ranked("session") == [second, first]
        addresses.note_answer(first)
        assert await addresses.ranked("session") == [first, second]
        addresses.begin(first)
        assert await addresses.ranked("session") == [first, second]
        addresses.eject_silent(first)  # It counts from the beginning again.
        clock.now += 10
        assert await addresses.ranked("session") == [first, second]

    run(test)


def test_of_addresses_that_failed_the_one_that_is_back_soonest_comes_first() -> None:
    async def test() -> None:
        addresses = WorkerAddresses(["https://a", "https://b"], Clock())
        first, second = await addresses.ranked("session")
        addresses.eject_silent(first)
        addresses.eject(second)
        assert await addresses.ranked("session") == [second, first]
        addresses.eject(first)  # That it hangs up, too, does not make it better.
        assert await addresses.ranked("session") == [second, first]

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


def test_one_request_looks_for_addresses_and_the_others_do_not_wait_for_it() -> None:
    known = ["http://10.0.0.1:80", "http://10.0.0.2:80"]
    looks, is_resolved = [0], asyncio.Event()

    async def resolve(_url: str) -> list[str] | None:
        looks[0] += 1
        if looks[0] > 1:
            await is_resolved.wait()
        return known if looks[0] == 1 else [*known, "http://10.0.0.3:80"]

    async def test() -> None:
        clock = Clock()
        addresses = WorkerAddresses(["http://workers"], clock, resolve)
        await addresses.ranked("x")
        clock.now += 5.0
        looking = asyncio.create_task(addresses.ranked("x"))
        await asyncio.sleep(0)
        assert sorted(await asyncio.wait_for(addresses.ranked("x"), 5)) == known
        assert looks == [2]
        is_resolved.set()
        assert sorted(await looking) == [*known, "http://10.0.0.3:80"]

    run(test)


def test_a_name_that_was_never_resolved_is_asked_as_it_is() -> None:
    async def resolve(_url: str) -> list[str] | None:
        return None

    async def test() -> None:
        addresses = WorkerAddresses(["http://workers:8080"], Clock(), resolve)
        assert await addresses.ranked("x") == ["http://workers:8080"]

    run(test)


def test_a_name_server_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses_module, "_LOOK_UP_SECONDS", 0.1)
    is_over = threading.Event()

    def hang(*_what: object, **_more: object) -> list[tuple[object, ...]]:
        is_over.wait(60)
        return []

    monkeypatch.setattr("socket.getaddrinfo", hang)

    async def test() -> None:
        addresses = WorkerAddresses(["http://workers:8080"])
        try:
            found = await asyncio.wait_for(addresses.ranked("x"), 10)
        finally:
            is_over.set()
        assert found == ["http://workers:8080"]

    run(test)


def test_one_without_room_for_a_session_comes_after_the_others_for_that_one_alone() -> None:
    async def test() -> None:
        clock, told = Clock(), list[str]()
        addresses = WorkerAddresses(
            ["https://a", "https://b", "https://c"], clock, on_eject=told.append
        )
        order, others = await addresses.ranked("session"), await addresses.ranked("other")
        for _ in range(3):
            addresses.note_full(order[0], "session")
        assert told == ["full"]
        assert await addresses.ranked("session") == [*order[1:], order[0]]
        assert await addresses.ranked("other") == others
        assert not addresses.is_ejected(order[0])
        # It may have room by now; one that has just failed is surely not there.
        addresses.eject(order[1])
        assert await addresses.ranked("session") == [order[2], order[0], order[1]]
        clock.now += 30
        assert await addresses.ranked("session") == order

    run(test)


def test_however_many_sessions_do_not_fit_little_is_remembered() -> None:
    async def test() -> None:
        addresses = WorkerAddresses(["https://a", "https://b"], Clock())
        for number in range(10_000):
            addresses.note_full("https://a", f"session {number}")
        assert len(addresses._full) <= 4096
        assert await addresses.ranked("session 9999") == ["https://b", "https://a"]

    run(test)
