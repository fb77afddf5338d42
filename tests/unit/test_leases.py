"""Leases among threads: one holder, none for work that is done, and an end to waiting."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loader.coordination.leases import ProcessLeases
from loader.errors import ErrorCode, LoaderError


def test_a_lease_is_held_by_one_thread_at_a_time() -> None:
    leases = ProcessLeases()
    inside = []
    worst = []

    def hold() -> None:
        lease = leases.acquire("name", lambda: False)
        assert lease is not None
        inside.append(1)
        worst.append(len(inside))
        threading.Event().wait(0.01)
        inside.pop()
        lease.release()

    with ThreadPoolExecutor(8) as pool:
        for waiting in [pool.submit(hold) for _ in range(8)]:
            waiting.result(10)
    assert max(worst) == 1


def test_whoever_waited_for_work_that_is_done_gets_no_lease() -> None:
    leases = ProcessLeases()
    assert leases.acquire("name", lambda: True) is None
    lease = leases.acquire("name", lambda: False)
    assert lease is not None
    lease.release()


def test_a_lease_is_given_back_when_nobody_can_tell_whether_the_work_is_done() -> None:
    leases = ProcessLeases()

    def fail() -> bool:
        raise OSError("too many open files")

    with pytest.raises(OSError, match="too many"):
        leases.acquire("name", fail)
    lease = leases.acquire("name", lambda: False)
    assert lease is not None
    lease.release()


def test_whoever_waits_may_be_told_to_stop_waiting() -> None:
    leases = ProcessLeases()
    lease = leases.acquire("name", lambda: False)
    assert lease is not None
    looks: list[int] = []

    def give_up() -> None:
        looks.append(1)
        if len(looks) == 2:
            raise LoaderError(ErrorCode.BUSY, "stopping")

    with pytest.raises(LoaderError, match="stopping"):
        leases.acquire("name", lambda: False, give_up)
    lease.release()
    later = leases.acquire("name", lambda: False)
    assert later is not None
    assert later.token > lease.token
    assert later.confirm()
    assert not later.is_lost
