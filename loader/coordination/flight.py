"""Single flight in one process: whoever asks for what is being made waits for it and shares its outcome.

A flight also knows for whom it is. Work that nobody waits for yet becomes a person's as soon as a person
joins, and is given up only when all who asked for it in advance have given up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from loader.engine.base import StopSignal
from loader.errors import ErrorCode, LoaderError
from loader.turns.order import Urgency

_LOOK_SECONDS = 0.2
"""How often one who waits in vain looks whether it still has to."""


class Flight:
    """One piece of work and those who want it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._urgency = Urgency.PREWARM
        self._signals: list[StopSignal] = []
        self._outcome: Future[None] = Future()

    @property
    def urgency(self) -> Urgency:
        """For whom it is: a person, once one waits."""
        return self._urgency

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody wants it any more. A person's work goes on: it will be asked for again."""
        with self._lock:
            return self._urgency is Urgency.PREWARM and all(
                signal.is_set() for signal in self._signals
            )

    def join(self, urgency: Urgency, cancelled: StopSignal | None) -> None:
        """One more wants it; without a signal, to the end."""
        with self._lock:
            if urgency is Urgency.PERSON:
                self._urgency = Urgency.PERSON
            self._signals.append(cancelled or threading.Event())

    def promote(self) -> None:
        """A person waits for it, or for what it will leave behind."""
        with self._lock:
            self._urgency = Urgency.PERSON

    def finish(self, problem: BaseException | None) -> None:
        """Gives the outcome to all who wait."""
        if problem is None:
            self._outcome.set_result(None)
        else:
            self._outcome.set_exception(problem)

    def wait(self, cancelled: StopSignal | None) -> None:
        """Waits for the outcome.

        Raises:
            LoaderError: CANCELLED when the waiting one gives up.
            BaseException: that of the work.
        """
        while True:
            try:
                return self._outcome.result(_LOOK_SECONDS if cancelled else None)
            except TimeoutError:
                if self._outcome.done():
                    raise  # it is the work's own
                if cancelled is not None and cancelled.is_set():
                    raise no_longer_wanted() from None


class Flights:
    """Callers of the same key in this process share one execution and its outcome."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Flight] = {}

    def run(
        self,
        key: str,
        work: Callable[[Flight], None],
        urgency: Urgency = Urgency.PERSON,
        cancelled: StopSignal | None = None,
    ) -> None:
        """Runs `work`, or waits for the caller that is already running it; both see its exception."""
        while True:
            flight, is_mine = self._enter(key, urgency, cancelled)
            if is_mine:
                return self._fly(key, flight, work)
            try:
                return flight.wait(cancelled)
            except LoaderError as problem:
                if problem.code is not ErrorCode.CANCELLED or (cancelled and cancelled.is_set()):
                    raise
                # The one who led gave up just before we came.

    def promote(self, key: str) -> None:
        """A person waits for what this work will leave behind."""
        with self._lock:
            flight = self._running.get(key)
        if flight is not None:
            flight.promote()

    @contextmanager
    def also_as(self, key: str, flight: Flight) -> Iterator[None]:
        """Makes a flight known by another key, too, for `promote`."""
        with self._lock:
            self._running[key] = flight
        try:
            yield
        finally:
            with self._lock:
                if self._running.get(key) is flight:
                    del self._running[key]

    def _enter(
        self, key: str, urgency: Urgency, cancelled: StopSignal | None
    ) -> tuple[Flight, bool]:
        """The flight of the key, and whether the caller has to do its work."""
        with self._lock:
            flight = self._running.get(key)
            is_mine = flight is None
            if flight is None:
                flight = self._running[key] = Flight()
            flight.join(urgency, cancelled)
        return flight, is_mine

    def _fly(self, key: str, flight: Flight, work: Callable[[Flight], None]) -> None:
        try:
            work(flight)
        except BaseException as problem:
            self._finish(key, flight, problem)
            raise
        self._finish(key, flight, None)

    def _finish(self, key: str, flight: Flight, problem: BaseException | None) -> None:
        with self._lock:
            del self._running[key]
        flight.finish(problem)


def no_longer_wanted() -> LoaderError:
    """The error of work that was given up."""
    return LoaderError(ErrorCode.CANCELLED, "Nobody waits for this answer any more.")
