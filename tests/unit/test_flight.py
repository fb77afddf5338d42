"""Single flight among threads: one execution, every waiter sees its outcome."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loader.coordination.flight import Flight, Flights
from loader.errors import ErrorCode, LoaderError


def test_simultaneous_callers_share_one_execution() -> None:
    flights = Flights()
    started, release = threading.Event(), threading.Event()
    runs = []

    def work(_flight: Flight) -> None:
        runs.append(threading.get_ident())
        started.set()
        assert release.wait(10)

    with ThreadPoolExecutor(17) as pool:
        first = pool.submit(flights.run, "key", work)
        assert started.wait(10)
        others = [pool.submit(flights.run, "key", work) for _ in range(15)]
        elsewhere = pool.submit(flights.run, "another", lambda _: None)
        elsewhere.result(10)
        release.set()
        for waiting in (first, *others):
            waiting.result(10)
    assert 1 <= len(runs) <= 2  # a caller that came after the end starts anew
    flights.run("key", lambda _: runs.append(0))
    assert runs[-1] == 0


def test_a_failure_reaches_every_waiter_and_is_not_remembered() -> None:
    flights = Flights()
    started, release = threading.Event(), threading.Event()

    def fail(_flight: Flight) -> None:
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
    flights.run("key", lambda _: None)
