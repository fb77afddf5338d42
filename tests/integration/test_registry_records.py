"""Runs, sessions and tokens in the registry, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from auth.identity import Principal, Role, create_token, identify
from server.registry import deleting, runs, sessions
from server.registry.conditions import AllOf, Compare, Condition, Operator, Subject
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.pages import PageRequest
from server.registry.tokens import SqlTokenStore

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
TICK = timedelta(microseconds=1)
STRANGE_IDS = [
    "e\u0301",
    "\u00e9",
    "A",
    "a",
    " a",
    "a ",
    "a+b%20c&d#e?f,g:h@i",
    "\U0001f600",
    "'\"\\",
]


def make_run(database: Database, run_id: str, now: datetime = NOW) -> None:
    runs.create_run(database, run_id, runs.RunChanges(), creator="me", now=now)


def attach(database: Database, run: str, session: str) -> None:
    new = sessions.NewSession(session, (f"/profiles/{session}",), session)
    sessions.create_session(database, run, new, creator="me", now=NOW)


def refusal(call: Callable[[], object]) -> RegistryProblem:
    with pytest.raises(RegistryError) as caught:
        call()
    return caught.value.problem


def test_a_run_comes_back_as_it_was_made(database: Database) -> None:
    values = runs.RunChanges(
        display_name="Lauf \u00fc",
        labels={"team": "perf"},
        run_set="set",
        configs={"userConfigs": {"batch": [1, 2.5, None, True, {"\u00fc": "x"}]}},
        artifacts={"gcsPath": "gs://b/p"},
    )
    made = runs.create_run(database, "r", values, creator="me", now=NOW)
    assert runs.get_run(database, "r") == made
    assert (made.display_name, made.labels, made.run_set) == (
        "Lauf \u00fc",
        {"team": "perf"},
        "set",
    )
    assert (made.configs, made.artifacts) == (values.configs, values.artifacts)
    assert (made.creator, made.created, made.updated, made.version) == ("me", NOW, NOW, 1)


def test_ids_are_compared_byte_by_byte(database: Database) -> None:
    for run_id in STRANGE_IDS:
        make_run(database, run_id)
    for run_id in STRANGE_IDS:
        assert runs.get_run(database, run_id).id == run_id
    ordered = runs.list_runs(database, PageRequest(100, "id", descending=False))
    assert [run.id for run in ordered.records] == sorted(STRANGE_IDS, key=str.encode)


def test_an_id_is_given_once_also_when_many_ask_at_once(database: Database) -> None:
    outcomes: list[str] = []

    def make() -> None:
        try:
            make_run(database, "same")
            outcomes.append("made")
        except RegistryError as error:
            outcomes.append(error.problem.value)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["already_exists"] * 7 + ["made"]


def test_of_many_changes_of_one_state_exactly_one_succeeds(database: Database) -> None:
    make_run(database, "r")
    etag = runs.get_run(database, "r").etag
    outcomes: list[str] = []

    def change(number: int) -> None:
        changes = runs.RunChanges(display_name=f"by {number}")
        try:
            outcomes.append(
                runs.update_run(database, "r", changes, etag=etag, now=NOW).display_name
            )
        except RegistryError as error:
            outcomes.append(error.problem.value)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    winners = [outcome for outcome in outcomes if outcome != "etag_mismatch"]
    assert [runs.get_run(database, "r").display_name] == winners
    assert runs.get_run(database, "r").version == 2


def test_a_run_is_deleted_without_its_sessions_only_if_it_has_none(database: Database) -> None:
    """Also when a session is attached at this moment: it is refused, or keeps its run."""
    for number in range(10):
        run_id = f"r{number}"
        runs.create_run(database, run_id, runs.RunChanges(), creator="me", now=NOW)
        barrier = threading.Barrier(2)

        def attach(run_id: str = run_id, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            new = sessions.NewSession("s", ("/p/s",), "")
            try:
                sessions.create_session(database, run_id, new, creator="me", now=NOW)
            except RegistryError as error:
                assert error.problem is RegistryProblem.NOT_FOUND
                return False
            return True

        with ThreadPoolExecutor(1) as pool:
            attached = pool.submit(attach)
            barrier.wait()
            try:
                deleting.delete_run(database, run_id, etag=None, now=NOW, with_sessions=False)
            except RegistryError as error:
                assert error.problem is RegistryProblem.NOT_EMPTY
                assert attached.result()
                assert sessions.get_session(database, run_id, "s").id == "s"
            else:
                assert not attached.result()


def test_a_run_made_again_is_another_run(database: Database) -> None:
    make_run(database, "r")
    first = runs.get_run(database, "r")
    deleting.delete_run(database, "r", etag=first.etag, now=NOW)
    make_run(database, "r")
    second = runs.get_run(database, "r")
    assert first.uid != second.uid
    assert (
        refusal(lambda: deleting.delete_run(database, "r", etag=first.etag, now=NOW))
        is RegistryProblem.ETAG_MISMATCH
    )


def test_what_is_not_there_is_not_found(database: Database) -> None:
    make_run(database, "r")
    missing = RegistryProblem.NOT_FOUND
    nothing = runs.RunChanges()
    assert refusal(lambda: runs.get_run(database, "R")) is missing
    assert refusal(lambda: runs.update_run(database, "x", nothing, etag=None, now=NOW)) is missing
    assert refusal(lambda: deleting.delete_run(database, "x", etag=None, now=NOW)) is missing
    assert refusal(lambda: attach(database, "x", "s")) is missing
    assert refusal(lambda: sessions.get_session(database, "r", "s")) is missing
    assert refusal(lambda: sessions.list_sessions(database, "x", PageRequest(1))) is missing
    gone = deleting.delete_session
    assert refusal(lambda: gone(database, "r", "s", etag=None, now=NOW)) is missing


def test_sessions_of_the_same_name_stay_with_their_run(database: Database) -> None:
    for run in ("one", "two"):
        make_run(database, run)
        attach(database, run, "same")
    assert refusal(lambda: attach(database, "one", "same")) is RegistryProblem.ALREADY_EXISTS
    first = sessions.get_session(database, "one", "same")
    second = sessions.get_session(database, "two", "same")
    assert (first.run, second.run) == ("one", "two")
    assert first.uid != second.uid
    assert sessions.find_session_by_uid(database, second.uid) == second
    deleting.delete_run(database, "one", etag=None, now=NOW)
    assert sessions.find_session_by_uid(database, first.uid) is None
    assert sessions.get_session(database, "two", "same") == second


@pytest.mark.parametrize("field", ["created", "id", "display_name", "updated"])
@pytest.mark.parametrize("descending", [False, True])
def test_pages_hold_each_run_once_while_others_are_added(
    database: Database, field: str, descending: bool
) -> None:
    for number in range(10):
        # Pairs of runs share a moment, so that only the key tells them apart.
        make_run(database, f"run {number}", NOW + number // 2 * TICK)
    seen: list[str] = []
    after = None
    for round_number in range(100):
        page = runs.list_runs(database, PageRequest(3, field, descending, after))
        seen += [run.id for run in page.records]
        make_run(database, f"new {round_number}", NOW + 3 * TICK)
        after = page.next
        if after is None or round_number > 30:
            break
    old = [run_id for run_id in seen if run_id.startswith("run")]
    assert sorted(old) == [f"run {number}" for number in range(10)]
    assert old == sorted(old, reverse=descending)
    assert len(seen) == len(set(seen))


def test_runs_are_found_by_set_name_and_label(database: Database) -> None:
    for run_id, labels in (("a", {"team": "x", "k. $'[0]": "v"}), ("b", {"team": "y"}), ("c", {})):
        values = runs.RunChanges(labels=labels, run_set="set" if run_id != "c" else "")
        runs.create_run(database, run_id, values, creator="me", now=NOW)

    def found(*parts: Condition) -> list[str]:
        request = PageRequest(10, "id", descending=False)
        return [run.id for run in runs.list_runs(database, request, AllOf(parts)).records]

    def equal(value: str, field: str, *path: str) -> Compare:
        return Compare(Subject(field, path), Operator.EQUAL, value)

    in_set = equal("set", "run_set")
    assert found() == ["a", "b", "c"]
    assert found(in_set) == ["a", "b"]
    assert found(equal("c", "display_name")) == ["c"]
    assert found(equal("x", "labels", "team")) == ["a"]
    assert found(equal("v", "labels", "k. $'[0]")) == ["a"]
    assert found(in_set, equal("x", "labels", "team"), equal("y", "labels", "team")) == []


def test_an_api_token_works_until_its_last_moment(database: Database) -> None:
    store = SqlTokenStore(database)
    end = NOW + timedelta(days=1)
    token, secret = create_token(
        store, name="job", role=Role.VIEWER, creator="me", now=NOW, expires=end
    )
    header = f"Bearer {secret}"
    assert identify(store, header, end - TICK) == Principal("job", Role.VIEWER, f"token:{token.id}")
    assert identify(store, header, end) is None
    assert identify(store, f"bearer  {secret}", NOW) == Principal(
        "job", Role.VIEWER, f"token:{token.id}"
    )
    store.revoke_token(token.id, NOW)
    assert identify(store, header, NOW) is None


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Bearer x", "Basic {}", "{}"])
def test_other_credentials_are_nobody(database: Database, header: str | None) -> None:
    store = SqlTokenStore(database)
    _, secret = create_token(
        store, name="job", role=Role.ADMIN, creator="me", now=NOW, expires=None
    )
    assert identify(store, header and header.format(secret), NOW) is None
    assert identify(store, f"Bearer {secret.upper()}", NOW) is None
    assert identify(store, f"Bearer {secret}x", NOW) is None


def test_revoking_twice_keeps_the_first_moment(database: Database) -> None:
    store = SqlTokenStore(database)
    token, _ = create_token(store, name="job", role=Role.ADMIN, creator="me", now=NOW, expires=None)
    store.revoke_token(token.id, NOW + TICK)
    assert store.revoke_token(token.id, NOW + 2 * TICK).revoked == NOW + TICK
    assert refusal(lambda: store.revoke_token("other", NOW)) is RegistryProblem.NOT_FOUND
