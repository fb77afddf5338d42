"""Waiting for a turn among threads: told where one stands, ended when not wanted, refused after a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.turns.admission import Admission
from loader.turns.order import Turn, Turns, Urgency


@dataclass
class Applicant:
    """Notes where it stands; may be told that nobody wants it."""

    urgency: Urgency = Urgency.PERSON
    problem: LoaderError | None = None
    session: str = "session"
    has_to_end: threading.Event = field(default_factory=threading.Event)
    places: list[int] = field(default_factory=list)
    waits: threading.Event = field(default_factory=threading.Event)

    def check_wait(self) -> None:
        if self.problem is not None:
            raise self.problem

    def give_way(self) -> None:
        self.has_to_end.set()

    def show_waiting(self, ahead: int) -> None:
        self.places.append(ahead)
        self.waits.set()


@dataclass
class Observer:
    """Keeps what it is told."""

    admissions: list[Urgency] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def admitted(self, urgency: Urgency, seconds: float) -> None:
        assert seconds >= 0
        self.admissions.append(urgency)

    def refused(self, reason: str) -> None:
        self.refusals.append(reason)


def test_no_more_at_once_than_slots() -> None:
    admission = Admission(slots=3, memory_bytes=100, seconds=60)
    lock = threading.Lock()
    inside, worst = [0], [0]

    def convert() -> None:
        with admission.enter(Applicant(), 10):
            with lock:
                inside[0] += 1
                worst[0] = max(worst[0], inside[0])
            threading.Event().wait(0.01)
            with lock:
                inside[0] -= 1

    with ThreadPoolExecutor(12) as pool:
        for each in [pool.submit(convert) for _ in range(24)]:
            each.result(30)
    assert worst[0] == 3


def test_who_waits_is_told_how_many_go_first_and_counted() -> None:
    observer = Observer()
    admission = Admission(slots=1, memory_bytes=100, seconds=60, observer=observer)
    first, second = Applicant(), Applicant(Urgency.PREWARM)

    def convert(applicant: Applicant) -> None:
        with admission.enter(applicant, 10):
            pass

    with ThreadPoolExecutor(2) as pool:
        with admission.enter(Applicant(), 10):
            waiting = [pool.submit(convert, first)]
            assert first.waits.wait(20)
            waiting.append(pool.submit(convert, second))
            assert second.waits.wait(20)
            line = admission.line()
        for each in waiting:
            each.result(20)
    assert first.places[0] == 0
    assert second.places[0] == 1
    assert line.waiting == {Urgency.PERSON: 1, Urgency.PREWARM: 1}
    assert line.converting == {Urgency.PERSON: 1, Urgency.PREWARM: 0}
    assert observer.admissions == [Urgency.PERSON, Urgency.PERSON, Urgency.PREWARM]


def test_waiting_has_an_end() -> None:
    observer = Observer()
    admission = Admission(slots=1, memory_bytes=100, seconds=0.3, observer=observer)
    with admission.enter(Applicant(), 10):
        with pytest.raises(LoaderError) as caught, admission.enter(Applicant(), 10):
            pass
        assert caught.value.code is ErrorCode.BUSY
    with admission.enter(Applicant(), 10):  # who gave up left nothing behind
        pass
    assert observer.refusals == ["busy"]


def test_who_is_not_wanted_any_more_stops_waiting() -> None:
    admission = Admission(slots=1, memory_bytes=100, seconds=60)
    unwanted = Applicant(problem=LoaderError(ErrorCode.CANCELLED, "not wanted"))
    with (
        admission.enter(Applicant(), 10),
        pytest.raises(LoaderError, match="not wanted"),
        admission.enter(unwanted, 10),
    ):
        pass


def test_more_than_all_memory_is_taken_as_all() -> None:
    admission = Admission(slots=4, memory_bytes=100, seconds=60)
    with admission.enter(Applicant(), 1000) as place:
        assert place.memory_bytes == 100


def test_two_that_grow_at_once_both_end() -> None:
    """Each holds half of the memory and turns out to need more: neither waits for the other for ever."""
    admission = Admission(slots=4, memory_bytes=100, seconds=60)
    both = threading.Barrier(2, timeout=20)

    def convert() -> None:
        with admission.enter(Applicant(), 50) as place:
            both.wait()
            place.resize(80)
            assert place.memory_bytes == 80

    with ThreadPoolExecutor(2) as pool:
        for each in [pool.submit(convert) for _ in range(2)]:
            each.result(20)


def test_a_person_who_does_not_fit_has_work_ahead_of_time_end() -> None:
    admission = Admission(slots=4, memory_bytes=100, seconds=60)
    ahead, person = Applicant(Urgency.PREWARM), Applicant()

    def work_ahead() -> None:
        with admission.enter(ahead, 90):
            ahead.waits.set()
            assert ahead.has_to_end.wait(20)

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work_ahead)
        assert ahead.waits.wait(20)
        with admission.enter(person, 20):
            assert ahead.has_to_end.is_set()
        working.result(20)


def test_the_order_of_many_is_found_once_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look is to put all who wait in order; forty that each did so ten times a second did little else."""
    looks = 0
    give_up = Turns.give_up

    def count(turns: Turns) -> list[Turn]:
        nonlocal looks
        looks += 1
        return give_up(turns)

    monkeypatch.setattr(Turns, "give_up", count)  # once for each look
    admission = Admission(slots=1, memory_bytes=100, seconds=60)
    everyone = [Applicant() for _ in range(40)]

    def convert(applicant: Applicant) -> None:
        with admission.enter(applicant, 1):
            pass

    with ThreadPoolExecutor(40) as pool:
        with admission.enter(Applicant(), 1):
            waiting = [pool.submit(convert, applicant) for applicant in everyone]
            for applicant in everyone:
                assert applicant.waits.wait(20)
            looks = 0
            threading.Event().wait(1)
            seen = looks
        for each in waiting:
            each.result(20)
    assert seen <= 20  # 400 if each had looked for itself
