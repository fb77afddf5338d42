"""Waiting for one's turn to convert, and giving it back: the threads around `loader.turns.order`.

Knows nothing of profiles: a conversion is what it needs, for whom it is, and whether it is still wanted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from loader.errors import ErrorCode, LoaderError
from loader.turns.order import Turn, Turns, Urgency

__all__ = ["Admission", "AdmissionObserver", "Applicant", "Line", "Place", "Unobserved", "Urgency"]

QUEUE_FULL = "queue_full"
"""Why one was sent away that found no place in the line, or lost it: ahead of time, or to another session."""
MOST_WAITING = 100
_LOOK_SECONDS = 0.1
"""How often one who waits looks whether it is still wanted, and where it stands."""


@dataclass(frozen=True)
class Line:
    """Who converts and who waits at one moment.

    Attributes:
        converting: how many convert, by urgency.
        waiting: how many wait for their turn, by urgency.
        oldest_wait: seconds that the one has waited who has waited longest; 0 when nobody waits.
    """

    converting: Mapping[Urgency, int]
    waiting: Mapping[Urgency, int]
    oldest_wait: float


class Applicant(Protocol):
    """One who wants to convert."""

    @property
    def urgency(self) -> Urgency:
        """For whom; may become more urgent while it waits."""

    @property
    def session(self) -> str:
        """What it is for, so that one session can't take all turns."""

    def check_wait(self) -> None:
        """Raises what ends the waiting, if something does."""

    def show_waiting(self, ahead: int) -> None:
        """Told while it waits: how many go before."""

    def give_way(self) -> None:
        """Told from any thread to end, for nobody waits for it, and a person needs its place.

        Must not wait for anything.
        """


class AdmissionObserver(Protocol):
    """Told what happens, for metrics. How things stand is asked for: `Admission.line`."""

    def admitted(self, urgency: Urgency, seconds: float) -> None:
        """One has waited so long and may convert."""

    def refused(self, reason: str) -> None:
        """One was sent away: `busy`, `queue_full` or `needs_larger_worker`."""


class Unobserved:
    """An `AdmissionObserver` that forgets."""

    def admitted(self, urgency: Urgency, seconds: float) -> None:
        """See `AdmissionObserver`."""

    def refused(self, reason: str) -> None:
        """See `AdmissionObserver`."""


class Admission:
    """Bounds the conversions of one worker. Thread-safe.

    Args:
        slots: most conversions at once; one more for who is crowded out by a single session.
        memory_bytes: most memory of all together.
        seconds: longest wait for a turn.
        observer: told what goes on.
        clock: seconds that only grow.
        most_waiting: how many may wait for their turn; who comes then is sent away at once.
    """

    def __init__(
        self,
        slots: int,
        memory_bytes: int,
        seconds: float,
        observer: AdmissionObserver | None = None,
        clock: Callable[[], float] = time.monotonic,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._turns = Turns(slots, memory_bytes)
        self._most_waiting = most_waiting
        self._seconds = seconds
        self._observer = observer or Unobserved()
        self._clock = clock
        self._changed = threading.Condition()
        self._ahead: dict[Turn, int] = {}
        self._looked = self._clock()

    @property
    def memory_bytes(self) -> int:
        """Most memory of all conversions together."""
        return self._turns.memory_bytes

    def line(self) -> Line:
        """How things stand now."""
        with self._changed:
            self._turns.pass_time(self._clock())
            return Line(
                {urgency: self._turns.converting(urgency) for urgency in Urgency},
                {urgency: self._turns.waiting(urgency) for urgency in Urgency},
                self._turns.oldest_wait,
            )

    @contextmanager
    def enter(self, applicant: Applicant, memory_bytes: int) -> Iterator[Place]:
        """Waits for the turn, which lasts as long as the context.

        Raises:
            LoaderError: BUSY when too many wait already, or it takes too long; what `Applicant.check_wait`
                raises.
        """
        turn = Turn(
            lambda: applicant.urgency,
            min(memory_bytes, self.memory_bytes),
            self._clock(),
            applicant.session,
            applicant.give_way,
        )
        with self._changed:
            self._join(turn)
        try:
            self._wait(turn, applicant)
            yield Place(self, turn, applicant)
        finally:
            with self._changed:
                self._turns.pass_time(self._clock())
                self._turns.leave(turn)
                self._let_in()

    def refuse(self, message: str) -> LoaderError:
        """The error for what can never have its turn here; counted."""
        self._observer.refused(ErrorCode.NEEDS_LARGER_WORKER.value)
        return LoaderError(ErrorCode.NEEDS_LARGER_WORKER, message)

    def resize(self, turn: Turn, applicant: Applicant, memory_bytes: int) -> None:
        """See `Place.resize`."""
        with self._changed:
            self._turns.pass_time(self._clock())
            fits = self._turns.resize(turn, min(memory_bytes, self.memory_bytes))
            self._let_in()
        if not fits:
            self._wait(turn, applicant)

    def _wait(self, turn: Turn, applicant: Applicant) -> None:
        """Returns when it is the turn's turn."""
        began = self._clock()
        with self._changed:
            self._let_in()
        while True:
            with self._changed:
                # Once for all who wait: the order of many takes too long to find for each of them.
                if self._clock() - self._looked >= _LOOK_SECONDS:
                    self._let_in()
                if self._turns.is_running(turn):
                    break
                if turn.has_no_place:
                    raise self._sent_away(turn, QUEUE_FULL)
                # One that a person has just joined gets its place back with the next look.
                ahead = self._ahead.get(turn, len(self._ahead))
            applicant.show_waiting(ahead)
            applicant.check_wait()
            if self._clock() - began >= self._seconds:
                with self._changed:
                    raise self._sent_away(turn, ErrorCode.BUSY.value)
            with self._changed:
                if not self._turns.is_running(turn):
                    self._changed.wait(_LOOK_SECONDS)
        self._observer.admitted(turn.urgency(), self._clock() - began)

    def _join(self, turn: Turn) -> None:
        """Lets one stand in line, or convert at once; the lock must be held.

        Raises:
            LoaderError: BUSY, the line is full.
        """
        self._turns.join(turn)
        self._let_in()
        loser = self._turns.crowd_out(turn, self._most_waiting)
        if loser is turn:
            problem = self._sent_away(turn, QUEUE_FULL)
            self._turns.leave(turn)
            self._let_in()
            raise problem
        if loser is not None:
            self._changed.notify_all()

    def _sent_away(self, turn: Turn, reason: str) -> LoaderError:
        """The error for one who gets no turn, counted; the lock must be held."""
        self._observer.refused(reason)
        return LoaderError(
            ErrorCode.BUSY,
            "The worker has as much to do as it can take at the moment.",
            ahead=self._ahead.get(turn, len(self._ahead)),
            retry_after=self._turns.seconds_to_come_back(turn),
        )

    def _let_in(self) -> None:
        """Wakes those whose turn it is, and ends those who stand in a person's way; the lock must be held."""
        self._turns.pass_time(self._clock())
        if self._turns.grant():
            self._changed.notify_all()
        for turn in self._turns.give_up():
            turn.give_way()
        self._ahead = {turn: number for number, turn in enumerate(self._turns.in_order())}
        self._looked = self._clock()


class Place:
    """A turn that one has."""

    def __init__(self, admission: Admission, turn: Turn, applicant: Applicant) -> None:
        self._admission = admission
        self._turn = turn
        self._applicant = applicant

    @property
    def memory_bytes(self) -> int:
        """What is set aside for it."""
        return self._turn.memory_bytes

    def resize(self, memory_bytes: int) -> None:
        """Sets aside another amount. When more is not free, gives the turn back and waits for it again.

        Raises:
            LoaderError: as `Admission.enter`.
        """
        self._admission.resize(self._turn, self._applicant, memory_bytes)
