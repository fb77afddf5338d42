"""A line that one session fills: it keeps nobody of another session from waiting, and so from converting."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.turns.admission import Admission
from loader.turns.order import Turn, Turns, Urgency
from tests.unit.test_admission import Applicant, Observer

MANY, FEW = "a session that asks for everything", "another session"


def turn(session: str, arrived: float, urgency: Urgency = Urgency.PERSON) -> Turn:
    return Turn(lambda: urgency, 10, arrived, session, lambda: None)


def full(sessions: list[str]) -> Turns:
    """A line that is full, behind one who converts."""
    turns = Turns(1, 100)
    turns.join(turn("first", 0))
    turns.grant()
    for number, session in enumerate(sessions, 1):
        turns.join(turn(session, number))
    return turns


def lost_by(turns: Turns, newcomer: Turn, most: int) -> str:
    """Whose place goes: `newcomer`, or the number of who came then."""
    turns.join(newcomer)
    loser = turns.crowd_out(newcomer, most)
    assert loser is not None
    return "newcomer" if loser is newcomer else f"{loser.session} {loser.arrived:g}"


def test_who_comes_of_another_session_takes_the_last_place_of_the_one_that_has_most() -> None:
    turns = full([MANY, MANY, FEW, MANY])
    assert lost_by(turns, turn("a third one", 9), 4) == f"{MANY} 4"
    assert len(turns.in_order()) == 4


def test_a_session_takes_no_more_places_than_the_one_it_takes_them_from_keeps() -> None:
    turns = full([MANY] * 4)
    lost = [lost_by(turns, turn(FEW, 9 + number), 4) for number in range(2)]
    assert lost == [f"{MANY} 4", f"{MANY} 3"]
    third = turn(FEW, 20)
    assert lost_by(turns, third, 4) == "newcomer"
    turns.leave(third)
    assert [one.session for one in turns.in_order()].count(FEW) == 2


def test_of_sessions_with_one_place_each_none_loses_it() -> None:
    assert lost_by(full(["a", "b", "c"]), turn("d", 9), 3) == "newcomer"


def test_a_session_does_not_take_its_own_places() -> None:
    assert lost_by(full([MANY] * 3), turn(MANY, 9), 3) == "newcomer"


def test_work_ahead_of_time_goes_before_any_persons_place() -> None:
    turns = full([MANY] * 2)
    turns.join(turn(FEW, 3, Urgency.PREWARM))
    assert lost_by(turns, turn("a third one", 9), 3) == f"{FEW} 3"


def test_work_ahead_of_time_takes_no_persons_place() -> None:
    assert lost_by(full([MANY] * 3), turn(FEW, 9, Urgency.PREWARM), 3) == "newcomer"


def test_a_conversion_that_gave_its_turn_back_is_not_thrown_away() -> None:
    turns = Turns(2, 100)
    begun = turn(MANY, 0)
    for one in (begun, turn("first", 0)):
        turns.join(one)
    assert len(turns.grant()) == 2
    turns.pass_time(5)
    assert not turns.resize(begun, 95)
    for number in (6, 7):
        turns.join(turn(MANY, number))
    assert lost_by(turns, turn(FEW, 8), 3) == f"{MANY} 7"
    assert lost_by(turns, turn("a third one", 9), 3) == f"{MANY} 6"


def test_one_link_that_fills_the_line_keeps_nobody_from_converting() -> None:
    """Five requests for one session, to a line of four, and then one person for another session."""
    observer = Observer()
    admission = Admission(1, 100, 1e9, observer, clock=lambda: 0.0, most_waiting=4)
    done: list[str] = []

    def convert(applicant: Applicant) -> None:
        with admission.enter(applicant, 10):
            done.append(applicant.session)

    with ThreadPoolExecutor(16) as pool:
        with ExitStack() as held:
            held.enter_context(admission.enter(Applicant(session="first"), 10))
            crowd: list[Future[None]] = []
            for _ in range(4):
                applicant = Applicant(session=MANY)
                crowd.append(pool.submit(convert, applicant))
                assert applicant.waits.wait(20)
            with pytest.raises(LoaderError):
                convert(Applicant(session=MANY))
            other = Applicant(session=FEW)
            waiting = pool.submit(convert, other)
            assert other.waits.wait(20)
            with pytest.raises(LoaderError) as caught:
                crowd[-1].result(20)
            assert caught.value.code is ErrorCode.BUSY
            assert caught.value.retry_after is not None
        for one in (*crowd[:-1], waiting):
            one.result(20)
    assert sorted(done) == sorted([MANY] * 3 + [FEW])
    assert observer.refusals == ["queue_full"] * 2
