"""Scanning finds sessions where jobs write them, on both databases, and asks storage for little."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from server.discovery import sessions_of_folder
from server.lifecycle.prune import Places, Pruner, PruneRules
from server.registry import attempts, deleting, runs, sessions
from server.registry.database import Database
from server.registry.pages import PageRequest
from server.registry.records import ProfilerSession, Run, RunState, SessionKind, SessionState
from tests.attempts import begin_attempt
from tests.discovery_parts import ROOT, Clock, CountingStore, Parts, profile

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OLD = "2025_01_31_12_00_00"
FRESH = "20260301_115500_123456"


def sessions_of(database: Database, run: str) -> dict[str, ProfilerSession]:
    page = sessions.list_sessions(database, run, PageRequest(1000, "id", False, None))
    return {session.id: session for session in page.records}


def all_runs(database: Database) -> dict[str, Run]:
    page = runs.list_runs(database, PageRequest(1000, "id", False, None))
    return {run.id: run for run in page.records}


def register(database: Database, run: str, root: str = ROOT) -> None:
    values = runs.RunChanges(storage_root=root)
    runs.create_run(database, run, values, creator="job", now=NOW)


def test_a_runs_own_folder_is_looked_at_without_any_root(database: Database) -> None:
    register(database, "r1")
    store = CountingStore([profile("r1", FRESH), profile("r2", FRESH)])
    parts = Parts(database, store, Clock(NOW), roots=(), adopts=False)
    asyncio.run(parts.until_quiet())
    found = sessions_of(database, "r1")[FRESH]
    assert (found.kind, found.state) == (SessionKind.SCANNED, SessionState.OPEN)
    assert found.locations == (f"{ROOT}/r1/plugins/profile/{FRESH}",)
    assert set(all_runs(database)) == {"r1"}
    assert store.calls == [f"{ROOT}/r1/plugins/profile", f"{ROOT}/r1/plugins/profile/{FRESH}"]


def test_a_roots_folders_are_found_for_runs_that_only_have_an_id(database: Database) -> None:
    register(database, "r1", root="")
    store = CountingStore([profile("r1", FRESH), profile("r2", FRESH)])
    asyncio.run(Parts(database, store, Clock(NOW), adopts=False).until_quiet())
    assert set(sessions_of(database, "r1")) == {FRESH}
    assert set(all_runs(database)) == {"r1"}


def test_folders_become_runs_only_when_the_rule_says_so(database: Database) -> None:
    store = CountingStore(
        [profile("old", OLD), profile("new", FRESH), f"{ROOT}/checkpoints/1/w", f"{ROOT}/notes.txt"]
    )
    asyncio.run(Parts(database, store, Clock(NOW), adopts=True).until_quiet())
    found = all_runs(database)
    assert set(found) == {"old", "new"}
    assert (found["old"].state, found["new"].state) == (RunState.COMPLETED, RunState.ACTIVE)
    assert found["old"].storage_root == ROOT
    assert found["old"].run_set == "team"
    assert found["old"].labels == {"folder": f"{ROOT}/old"}


def test_a_new_session_is_found_a_minute_later(database: Database) -> None:
    register(database, "r1")
    store, clock = CountingStore([profile("r1", OLD)]), Clock(NOW)
    parts = Parts(database, store, clock, roots=())
    asyncio.run(parts.until_quiet())
    store.put(profile("r1", FRESH))
    clock.advance(seconds=59)
    asyncio.run(parts.until_quiet())
    assert set(sessions_of(database, "r1")) == {OLD}
    clock.advance(seconds=1)
    asyncio.run(parts.until_quiet())
    assert set(sessions_of(database, "r1")) == {OLD, FRESH}


def test_what_is_quiet_is_looked_at_less_and_less(sqlite_database: Database) -> None:
    for run in ("active", "ended"):
        register(sqlite_database, run)
    attempts.set_state(sqlite_database, "ended", RunState.COMPLETED, now=NOW)
    store, clock = CountingStore([profile("active", OLD), profile("ended", OLD)]), Clock(NOW)
    parts = Parts(sqlite_database, store, clock, roots=())

    async def day() -> None:
        for _ in range(24 * 6):
            await parts.until_quiet()
            clock.advance(minutes=10)

    asyncio.run(day())
    looks = {run: store.calls.count(f"{ROOT}/{run}/plugins/profile") for run in ("active", "ended")}
    # Every 10 minutes while it is active; after 0, 1, 2, 4, 8 and 16 hours when it has ended.
    assert 140 <= looks["active"] <= 144
    assert 5 <= looks["ended"] <= 7


def test_a_deleted_session_is_not_found_again(database: Database) -> None:
    register(database, "r1")
    store, clock = CountingStore([profile("r1", OLD), profile("r1", FRESH)]), Clock(NOW)
    parts = Parts(database, store, clock, roots=())
    asyncio.run(parts.until_quiet())
    deleting.delete_session(database, "r1", OLD, etag=None, now=NOW)
    for _ in range(3):
        clock.advance(hours=1)
        asyncio.run(parts.until_quiet())
    assert set(sessions_of(database, "r1")) == {FRESH}


def test_a_deleted_run_is_not_adopted_again(database: Database) -> None:
    store, clock = CountingStore([profile("r1", OLD)]), Clock(NOW)
    parts = Parts(database, store, clock)
    asyncio.run(parts.until_quiet())
    deleting.delete_run(database, "r1", etag=None, now=NOW)
    for _ in range(3):
        clock.advance(days=1)
        asyncio.run(parts.until_quiet())
    assert all_runs(database) == {}


def test_what_was_deleted_before_the_first_look_is_not_found_either(database: Database) -> None:
    for run in ("r1", "r2"):
        register(database, run)
        new = sessions.NewSession("mine", (f"{ROOT}/{run}/plugins/profile/{OLD}/",), "mine")
        sessions.create_session(database, run, new, creator="me", now=NOW)
    deleting.delete_session(database, "r1", "mine", etag=None, now=NOW)
    deleting.delete_run(database, "r2", etag=None, now=NOW)
    profiles = [profile(run, session) for run in ("r1", "r2") for session in (OLD, FRESH)]
    clock = Clock(NOW)
    parts = Parts(database, CountingStore(profiles), clock)
    parts.notices.take(profiles[2], NOW)
    for _ in range(3):
        asyncio.run(parts.until_quiet())
        clock.advance(days=1)
    assert set(sessions_of(database, "r1")) == {FRESH}
    assert set(all_runs(database)) == {"r1"}
    # Nor when they are gone for good.
    rules = PruneRules(timedelta(days=2), timedelta(days=365))
    assert Pruner(database, Places(()), rules).run(clock.now).counts["runs"] == 1
    for _ in range(2):
        asyncio.run(parts.until_quiet())
        parts.notices.take(profiles[2], clock.now)
        clock.advance(days=1)
    assert set(sessions_of(database, "r1")) == {FRESH}
    assert set(all_runs(database)) == {"r1"}


def test_a_session_that_somebody_attached_is_not_found_twice(database: Database) -> None:
    register(database, "r1")
    new = sessions.NewSession("mine", (f"{ROOT}/r1/plugins/profile/{OLD}/",), "mine")
    sessions.create_session(database, "r1", new, creator="me", now=NOW)
    parts = Parts(database, CountingStore([profile("r1", OLD)]), Clock(NOW), roots=())
    asyncio.run(parts.until_quiet())
    assert set(sessions_of(database, "r1")) == {"mine"}


def test_a_folder_whose_name_is_taken_gets_an_id_of_its_own(database: Database) -> None:
    register(database, "r1")
    new = sessions.NewSession(OLD, ("gs://elsewhere/s",), "")
    sessions.create_session(database, "r1", new, creator="me", now=NOW)
    store, clock = CountingStore([profile("r1", OLD)]), Clock(NOW)
    parts = Parts(database, store, clock, roots=())
    for _ in range(2):
        asyncio.run(parts.until_quiet())
        clock.advance(minutes=2)
    found = sessions_of(database, "r1")
    assert len(found) == 2
    other = next(one for name, one in found.items() if name != OLD)
    assert other.id.startswith(f"{OLD}-")
    assert other.locations == (f"{ROOT}/r1/plugins/profile/{OLD}",)


def test_two_roots_with_runs_of_the_same_name_are_two_runs(database: Database) -> None:
    roots = ("gs://bucket/a", "gs://bucket/b")
    store, clock = CountingStore([profile("r1", OLD, root=root) for root in roots]), Clock(NOW)
    parts = Parts(database, store, clock, roots=roots)
    for _ in range(3):
        asyncio.run(parts.until_quiet())
        clock.advance(days=1)
    found = all_runs(database)
    assert len(found) == 2
    places = {sessions_of(database, run)[OLD].locations[0] for run in found}
    assert places == {f"{root}/r1/plugins/profile/{OLD}" for root in roots}


@pytest.mark.parametrize(
    "layout",
    ["plugins/profile", "tensorboard/plugins/profile", "plugins/profile/plugins/profile"],
)
def test_each_layout_is_found_and_then_asked_for_first(database: Database, layout: str) -> None:
    folder = f"{ROOT}/r1/{layout}/{OLD}"
    store = CountingStore([f"{folder}/h0.xplane.pb", f"{ROOT}/r1/checkpoints/1/w"])
    found = sessions_of_folder(store, f"{ROOT}/r1")
    assert found.folders == (folder,)
    assert not any("checkpoints" in call for call in store.calls)
    store.calls.clear()
    assert sessions_of_folder(store, f"{ROOT}/r1", found.layout) == found
    assert len(store.calls) == (2 if layout.count("plugins") > 1 else 1)


def test_a_job_that_begins_again_is_looked_at_often_again(database: Database) -> None:
    register(database, "r1")
    attempts.set_state(database, "r1", RunState.COMPLETED, now=NOW)
    store, clock = CountingStore(), Clock(NOW)
    parts = Parts(database, store, clock, roots=())
    for _ in range(4):  # until it is looked at every eight hours
        asyncio.run(parts.until_quiet())
        clock.advance(hours=8)
    asyncio.run(parts.until_quiet())
    begin_attempt(database, "r1", {}, now=clock.now)
    store.put(profile("r1", FRESH))
    clock.advance(minutes=2)
    asyncio.run(parts.until_quiet())
    clock.advance(seconds=2)
    asyncio.run(parts.until_quiet())
    assert sessions_of(database, "r1")[FRESH].attempt == 1


def test_a_run_that_writes_elsewhere_is_looked_at_there(database: Database) -> None:
    register(database, "r1")
    store, clock = CountingStore([profile("r1", OLD)]), Clock(NOW)
    parts = Parts(database, store, clock, roots=())
    asyncio.run(parts.until_quiet())
    elsewhere = "gs://bucket/elsewhere"
    changes = runs.RunChanges(storage_root=f"{elsewhere}/")
    runs.update_run(database, "r1", changes, etag=None, now=NOW)
    store.put(profile("r1", OLD, root=elsewhere))
    clock.advance(minutes=10)
    asyncio.run(parts.until_quiet())
    places = {one.locations[0] for one in sessions_of(database, "r1").values()}
    assert places == {f"{root}/r1/plugins/profile/{OLD}" for root in (ROOT, elsewhere)}
