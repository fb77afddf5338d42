"""Jobs that begin at the same time, on both databases: each gets an attempt, none is lost or counts twice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier

import pytest

from server.registry.database import Database
from server.registry.errors import RegistryError
from server.registry.pages import PageRequest
from server.registry.records import Attempt, RunState
from server.registry.registrations import register_attempt, report_state
from server.registry.runs import RunChanges, get_run, list_runs
from tests.attempts import list_attempts

AT_ONCE = 16
NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)


def register(database: Database, run: str = "r", name: str = "job") -> Attempt:
    _, attempt = register_attempt(
        database,
        run,
        lambda old, last: RunChanges(display_name=name, labels={**(old.labels if old else {})}),
        {"name": name},
        creator="job",
        now=NOW,
    )
    return attempt


def at_once(work: Callable[[int], Attempt]) -> list[Attempt]:
    """Does it in many threads that begin together."""
    barrier = Barrier(AT_ONCE)

    def one(number: int) -> Attempt:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, range(AT_ONCE)))


def test_restarts_of_a_new_run_at_once(database: Database) -> None:
    made = at_once(lambda number: register(database, name=str(number)))
    assert sorted(attempt.number for attempt in made) == list(range(1, AT_ONCE + 1))
    kept = list_attempts(database, "r")
    assert [attempt.number for attempt in kept] == list(range(1, AT_ONCE + 1))
    assert sorted(str(attempt.details["name"]) for attempt in kept) == sorted(
        map(str, range(AT_ONCE))
    )
    # Only the last one is under way.
    assert [attempt.state for attempt in kept] == [RunState.LOST] * (AT_ONCE - 1) + [
        RunState.ACTIVE
    ]
    page = list_runs(database, PageRequest(10, "created", True, None))
    assert [run.id for run in page.records] == ["r"]


def test_each_end_belongs_to_the_attempt_that_tells_it(database: Database) -> None:
    made = at_once(lambda _number: register(database))

    def end(number: int) -> Attempt:
        state = RunState.FAILED if made[number].number % 2 else RunState.COMPLETED
        report_state(database, "r", state, attempt=made[number].number, now=NOW)
        return made[number]

    at_once(end)
    for attempt in list_attempts(database, "r"):
        expected = RunState.FAILED if attempt.number % 2 else RunState.COMPLETED
        assert attempt.state is expected, attempt.number
        assert attempt.ended == NOW
    last = RunState.FAILED if AT_ONCE % 2 else RunState.COMPLETED
    assert get_run(database, "r").state is last


def test_an_earlier_attempt_does_not_come_back_to_life(database: Database) -> None:
    first, second = register(database), register(database)
    assert not report_state(database, "r", RunState.ACTIVE, attempt=first.number, now=NOW)
    assert [one.state for one in list_attempts(database, "r")] == [RunState.LOST, RunState.ACTIVE]
    assert report_state(database, "r", RunState.FAILED, attempt=second.number, now=NOW)
    assert get_run(database, "r").state is RunState.FAILED


def test_an_attempt_that_was_never_there_is_the_newest(database: Database) -> None:
    register(database)
    assert report_state(database, "r", RunState.COMPLETED, attempt=9, now=NOW)
    assert [one.state for one in list_attempts(database, "r")] == [RunState.COMPLETED]


def test_a_run_that_is_not_there_has_no_state(database: Database) -> None:
    with pytest.raises(RegistryError):
        report_state(database, "r", RunState.COMPLETED, attempt=None, now=NOW)


def test_what_decides_may_refuse_and_then_nothing_is_changed(database: Database) -> None:
    register(database)

    def refuse(_old: object, _last: object) -> RunChanges:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        register_attempt(database, "r", refuse, {}, creator="job", now=NOW)
    assert len(list_attempts(database, "r")) == 1
