"""Attempts, states, operations, repeated requests and looks at files in the registry, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from server.registry import (
    attempts,
    deleting,
    operations,
    requests,
    runs,
    session_changes,
    sessions,
)
from server.registry.database import Database
from server.registry.discovery import reopen_lost
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.forgetting import forget_old
from server.registry.models import OperationRow
from server.registry.pages import PageRequest
from server.registry.records import ProfilerSession, RunState, SessionKind, SessionState
from tests.attempts import begin_attempt, list_attempts

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def make_run(database: Database, run_id: str = "r", now: datetime = NOW) -> None:
    runs.create_run(database, run_id, runs.RunChanges(), creator="me", now=now)


def make_session(database: Database, session_id: str = "s") -> None:
    new = sessions.NewSession(
        session_id,
        ("/p/s",),
        "",
        kind=SessionKind.SCANNED,
        state=SessionState.OPEN,
        targets={"h0": {"sessionPhase": "ACTIVE"}},
    )
    sessions.create_session(database, "r", new, creator="me", now=NOW)


def refusal(call: Callable[[], object]) -> RegistryProblem:
    with pytest.raises(RegistryError) as caught:
        call()
    return caught.value.problem


def at_once(count: int, call: Callable[[int], object]) -> list[BaseException]:
    """Calls in so many threads at once; what they raised."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        barrier.wait()
        try:
            call(number)
        except BaseException as problem:  # noqa: BLE001 - told to the test
            failures.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_a_new_attempt_keeps_the_earlier_one(database: Database) -> None:
    make_run(database)
    first = begin_attempt(database, "r", {"cluster": "c1"}, now=NOW)
    attempts.set_state(database, "r", RunState.FAILED, now=NOW + HOUR)
    second = begin_attempt(database, "r", {"cluster": "c2"}, now=NOW + 2 * HOUR)
    assert (first.number, second.number) == (1, 2)
    assert list_attempts(database, "r") == (
        replace(first, state=RunState.FAILED, ended=NOW + HOUR),
        second,
    )
    run = runs.get_run(database, "r")
    assert (run.state, run.ended, run.seen) == (RunState.ACTIVE, None, NOW + 2 * HOUR)


def test_an_attempt_that_nobody_ended_is_lost_when_the_next_begins(database: Database) -> None:
    make_run(database)
    begin_attempt(database, "r", {}, now=NOW)
    begin_attempt(database, "r", {}, now=NOW + HOUR)
    found = [(one.state, one.ended) for one in list_attempts(database, "r")]
    assert found == [(RunState.LOST, NOW + HOUR), (RunState.ACTIVE, None)]


def test_attempts_that_begin_at_once_get_one_number_each(database: Database) -> None:
    make_run(database)
    failures = at_once(8, lambda _n: begin_attempt(database, "r", {}, now=NOW))
    assert failures == []
    found = list_attempts(database, "r")
    assert [one.number for one in found] == list(range(1, 9))
    assert [one.state for one in found].count(RunState.ACTIVE) == 1


def test_ending_twice_keeps_the_first_end(database: Database) -> None:
    make_run(database)
    begin_attempt(database, "r", {}, now=NOW)
    attempts.set_state(database, "r", RunState.COMPLETED, now=NOW + HOUR)
    attempts.set_state(database, "r", RunState.COMPLETED, now=NOW + 2 * HOUR)
    assert runs.get_run(database, "r").ended == NOW + HOUR
    assert list_attempts(database, "r")[0].ended == NOW + HOUR


def test_silent_runs_are_closed_and_others_are_not(database: Database) -> None:
    for run_id, now in (("old", NOW), ("heard", NOW), ("new", NOW + 2 * HOUR), ("over", NOW)):
        make_run(database, run_id, now)
        begin_attempt(database, run_id, {}, now=now)
    attempts.set_state(database, "over", RunState.COMPLETED, now=NOW)
    attempts.set_state(database, "heard", RunState.ACTIVE, now=NOW + 2 * HOUR)
    closed = attempts.close_silent(database, NOW + HOUR, now=NOW + 3 * HOUR)
    assert closed == ("old",)
    old = runs.get_run(database, "old")
    assert (old.state, old.ended, old.seen) == (RunState.LOST, NOW + 3 * HOUR, NOW)
    assert list_attempts(database, "old")[0].state is RunState.LOST
    assert runs.get_run(database, "heard").state is RunState.ACTIVE
    assert runs.get_run(database, "over").state is RunState.COMPLETED


def test_lost_runs_are_opened_by_new_sessions_and_nobody_waits_for_the_others(
    sqlite_database: Database,
) -> None:
    database = sqlite_database
    make_run(database)
    begin_attempt(database, "r", {}, now=NOW)
    attempts.close_silent(database, NOW + HOUR, now=NOW + HOUR)
    make_session(database)  # older than the end
    with ThreadPoolExecutor(1) as pool, database.writing():
        assert pool.submit(reopen_lost, database, NOW).result(timeout=20) == ()
    new = sessions.NewSession("late", ("/p/late",), "")
    sessions.create_session(database, "r", new, creator="me", now=NOW + 2 * HOUR)
    assert reopen_lost(database, NOW + 3 * HOUR) == ("r",)
    run = runs.get_run(database, "r")
    assert (run.state, run.ended) == (RunState.ACTIVE, None)
    assert [one.state for one in list_attempts(database, "r")] == [RunState.ACTIVE]


def test_a_run_does_not_take_over_the_attempts_of_one_that_is_gone(database: Database) -> None:
    make_run(database)
    begin_attempt(database, "r", {}, now=NOW)
    deleting.delete_run(database, "r", etag=None, now=NOW)
    make_run(database)
    assert list_attempts(database, "r") == ()


def test_the_same_request_makes_one_run(database: Database) -> None:
    request = requests.RepeatableRequest("me", "id-1", requests.fingerprint_of({"a": 1}))
    assert requests.recall(database, request) is None
    runs.create_run(database, "made", runs.RunChanges(), creator="me", now=NOW, request=request)
    assert requests.recall(database, request) == "made"
    other = requests.RepeatableRequest("me", "id-1", requests.fingerprint_of({"a": 2}))
    assert refusal(lambda: requests.recall(database, other)) is RegistryProblem.ALREADY_EXISTS
    stranger = requests.RepeatableRequest("you", "id-1", requests.fingerprint_of({"a": 1}))
    assert requests.recall(database, stranger) is None


def test_the_same_request_at_once_makes_one_run(database: Database) -> None:
    request = requests.RepeatableRequest("me", "id-1", "f")
    failures = at_once(
        6,
        lambda number: runs.create_run(
            database, f"run-{number}", runs.RunChanges(), creator="me", now=NOW, request=request
        ),
    )
    assert len(failures) == 5
    assert all(isinstance(problem, RegistryError) for problem in failures)
    made = requests.recall(database, request)
    page = runs.list_runs(database, PageRequest(10, "created", True, None))
    assert [run.id for run in page.records] == [made]


def test_old_requests_and_operations_are_forgotten(database: Database) -> None:
    request = requests.RepeatableRequest("me", "id-1", "f")
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW, request=request)
    made = operations.add_operation(database, parent="p", verb="create", target="t", now=NOW)
    later = operations.add_operation(
        database,
        parent="p",
        verb="update",
        target="t",
        now=NOW + HOUR,
        forget_before=NOW + HOUR,
    )
    assert requests.remove_old_requests(database, NOW + HOUR) == 1
    assert requests.recall(database, request) is None
    gone = refusal(lambda: operations.get_operation(database, "p", made.id))
    assert gone is RegistryProblem.NOT_FOUND
    assert operations.get_operation(database, "p", later.id) == later


def test_nobody_waits_for_whoever_forgets_old_operations(postgres_url: str) -> None:
    database = Database(postgres_url)
    database.migrate()
    operations.add_operation(database, parent="p", verb="create", target="t", now=NOW)

    def add(_number: int) -> object:
        return operations.add_operation(
            database, parent="p", verb="update", target="t", now=NOW, forget_before=NOW + HOUR
        )

    with ThreadPoolExecutor(1) as pool, database.writing() as session:
        assert forget_old(session, OperationRow, NOW + HOUR) == 1
        pool.submit(add, 0).result(timeout=20)
    database.close()


def test_an_operation_is_found_below_its_parent_only(database: Database) -> None:
    made = operations.add_operation(database, parent="p", verb="create", target="t", now=NOW)
    gone = refusal(lambda: operations.get_operation(database, "q", made.id))
    assert gone is RegistryProblem.NOT_FOUND
    page = operations.list_operations(database, "p", PageRequest(10, "created", True, None))
    assert page.records == (made,)


def test_changes_are_decided_on_what_is_there(database: Database) -> None:
    """Two hosts that report at once both stay."""
    make_run(database)
    make_session(database)

    def report(number: int) -> object:
        host = f"host-{number}"
        return session_changes.change_session(
            database,
            "r",
            "s",
            lambda old: session_changes.SessionChanges(targets={**old.targets, host: {}}),
            etag=None,
            now=NOW,
        )

    assert at_once(6, report) == []
    found = sessions.get_session(database, "r", "s")
    assert set(found.targets) == {"h0", *(f"host-{number}" for number in range(6))}
    assert found.version == 7


def _call(calls: Sequence[Callable[[], object]], who: int) -> None:
    calls[who]()


def test_a_run_may_be_deleted_while_its_sessions_change(database: Database) -> None:
    """Either comes first; none waits for one that waits for it."""

    def rename(_old: ProfilerSession) -> session_changes.SessionChanges:
        return session_changes.SessionChanges(display_name="new")

    for number in range(15):
        make_run(database)
        make_session(database)
        uid = sessions.get_session(database, "r", "s").uid
        calls: list[Callable[[], object]] = [
            partial(deleting.delete_run, database, "r", etag=None, now=NOW),
            partial(deleting.delete_session, database, "r", "s", etag=None, now=NOW),
            partial(make_session, database, "s1"),
            partial(make_session, database, "s2"),
            partial(session_changes.note_look, database, uid, str(number), now=NOW),
            *[
                partial(
                    session_changes.change_session, database, "r", "s", rename, etag=None, now=NOW
                )
            ]
            * 3,
        ]
        failures = at_once(len(calls), partial(_call, calls))
        assert all(isinstance(problem, RegistryError) for problem in failures), failures


def test_a_change_with_an_old_etag_changes_nothing(database: Database) -> None:
    make_run(database)
    make_session(database)
    before = sessions.get_session(database, "r", "s")

    def change() -> object:
        return session_changes.change_session(
            database,
            "r",
            "s",
            lambda _old: session_changes.SessionChanges(display_name="new"),
            etag="old",
            now=NOW,
        )

    assert refusal(change) is RegistryProblem.ETAG_MISMATCH
    assert sessions.get_session(database, "r", "s") == before


def test_a_session_is_complete_when_its_files_still_look_the_same(database: Database) -> None:
    make_run(database)
    make_session(database)
    uid = sessions.get_session(database, "r", "s").uid
    looked = session_changes.note_look(database, uid, "one", now=NOW)
    again = session_changes.note_look(database, uid, "one", now=NOW + HOUR)
    assert looked is not None
    assert again is not None
    assert (again.seen_digest, again.seen_changed, again.etag) == ("one", NOW, looked.etag)
    session_changes.note_look(database, uid, "two", now=NOW + HOUR)
    assert not session_changes.complete_session(database, uid, "one", now=NOW + 2 * HOUR)
    assert sessions.get_session(database, "r", "s").state is SessionState.OPEN
    assert session_changes.complete_session(database, uid, "two", now=NOW + 2 * HOUR)
    complete = sessions.get_session(database, "r", "s")
    assert (complete.etag != looked.etag, complete.updated) == (True, NOW + 2 * HOUR)
    assert not session_changes.complete_session(database, uid, "two", now=NOW + 2 * HOUR)
    assert sessions.get_session(database, "r", "s").state is SessionState.COMPLETE


def test_a_session_is_a_sign_of_life_of_its_run(database: Database) -> None:
    make_run(database, now=NOW - HOUR)
    make_session(database)
    assert runs.get_run(database, "r").seen == NOW


def test_warnings_are_kept_once_and_the_newest_only(database: Database) -> None:
    make_run(database)
    etags = set()
    for hours, sentence in enumerate(("a", "b", "b", "c"), start=1):
        runs.add_warning(database, "r", sentence, now=NOW + hours * HOUR, most=2)
        run = runs.get_run(database, "r")
        etags.add(run.etag)
        # The second time nothing changes.
        assert run.updated == NOW + (2 if hours == 3 else hours) * HOUR
    assert (run.warnings, run.seen, len(etags)) == (("b", "c"), NOW, 3)
