"""Single flight among threads: one execution, every waiter sees its outcome."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.flight import Flights, ProcessLeases


def test_simultaneous_callers_share_one_execution() -> None:
    flights = Flights()
    started, release = threading.Event(), threading.Event()
    runs = []

    def work() -> None:
        runs.append(threading.get_ident())
        started.set()
        assert release.wait(10)

    with ThreadPoolExecutor(17) as pool:
        first = pool.submit(flights.run, "key", work)
        assert started.wait(10)
        others = [pool.submit(flights.run, "key", work) for _ in range(15)]
        elsewhere = pool.submit(flights.run, "another", lambda: None)
        elsewhere.result(10)
        release.set()
        for waiting in (first, *others):
            waiting.result(10)
    assert 1 <= len(runs) <= 2  # a caller that came after the end starts anew
    flights.run("key", lambda: runs.append(0))
    assert runs[-1] == 0


def test_a_failure_reaches_every_waiter_and_is_not_remembered() -> None:
    flights = Flights()
    started, release = threading.Event(), threading.Event()

    def fail() -> None:
        started.set()
        assert release.wait(10)
        raise LoaderError(ErrorCode.MALFORMED, "ends too early", "a")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(flights.run, "key", fail)
        assert started.wait(10)
        second = pool.submit(flights.run, "key", fail)
        release.set()
        for waiting in (first, second):
            with pytest.raises(LoaderError, match="ends too early"):
                waiting.result(10)
    flights.run("key", lambda: None)


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
