"""When a session counts as complete, and what follows; silent jobs; notices of buckets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from server.discovery.looking import Completed
from server.discovery.notices import Notices
from server.discovery.registering import Maker, names_in
from server.discovery.scanner import Scanner
from server.registry import attempts, deleting, runs, sessions
from server.registry.database import Database
from server.registry.discovery import WatchedRun
from server.registry.looks import Look, LookKind, add_looks, find_look
from server.registry.records import RunState, SessionKind, SessionState
from tests.attempts import begin_attempt
from tests.discovery_parts import ROOT, Clock, CountingStore, Parts, profile

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NAME = "2026_03_01_11_59_00"
FOLDER = f"{ROOT}/r1/plugins/profile/{NAME}"


def new_parts(database: Database, store: CountingStore) -> Parts:
    values = runs.RunChanges(storage_root=ROOT)
    runs.create_run(database, "r1", values, creator="job", now=NOW)
    return Parts(database, store, Clock(NOW), roots=(), adopts=False)


def state(database: Database, session: str = NAME) -> SessionState:
    return sessions.get_session(database, "r1", session).state


def tell(database: Database, **values: object) -> None:
    """What a job says of its session before its files are there."""
    new = sessions.NewSession(
        NAME,
        (f"{FOLDER}/",),
        NAME,
        kind=SessionKind.PROGRAMMATIC,
        state=SessionState.OPEN,
        **values,  # type: ignore[arg-type]
    )
    sessions.create_session(database, "r1", new, creator="job", now=NOW)


async def at(parts: Parts, seconds: float) -> None:
    """Looks as the scanner does until so many seconds after the beginning, more often towards the end."""
    end = NOW + timedelta(seconds=seconds)
    while parts.clock.now < end:
        await parts.until_quiet()
        parts.clock.advance(seconds=10 if end - parts.clock.now < timedelta(minutes=5) else 120)
    await parts.until_quiet()


def test_a_session_of_known_size_is_complete_30_seconds_after_its_last_host(
    database: Database,
) -> None:
    store = CountingStore([profile("r1", NAME, "h0")])
    parts = new_parts(database, store)
    tell(database, expected_hosts=2)
    asyncio.run(at(parts, 300))
    assert state(database) is SessionState.OPEN
    store.put(profile("r1", NAME, "h1"))
    asyncio.run(at(parts, 330))
    assert state(database) is SessionState.OPEN
    asyncio.run(at(parts, 370))
    assert state(database) is SessionState.COMPLETE
    (done,) = parts.completed
    assert done.files.host_names == ("h0", "h1")
    assert done.session.uid == sessions.get_session(database, "r1", NAME).uid


def test_targets_say_how_many_hosts_there_are(database: Database) -> None:
    store = CountingStore([profile("r1", NAME, "h0")])
    parts = new_parts(database, store)
    tell(database, targets={"h0": {}, "h1": {}})
    asyncio.run(at(parts, 600))
    assert state(database) is SessionState.OPEN


def test_a_file_that_grows_keeps_a_session_open(sqlite_database: Database) -> None:
    store = CountingStore()
    parts = new_parts(sqlite_database, store)

    async def grow() -> None:
        for size in range(1, 20):
            store.put(profile("r1", NAME), size=size)
            await at(parts, size * 20)

    asyncio.run(grow())
    assert state(sqlite_database) is SessionState.OPEN
    asyncio.run(at(parts, 19 * 20 + 160))
    assert state(sqlite_database) is SessionState.COMPLETE


@pytest.mark.parametrize(("seconds", "expected"), [(110, "OPEN"), (190, "COMPLETE")])
def test_without_a_number_two_quiet_minutes_count(
    database: Database, seconds: float, expected: str
) -> None:
    parts = new_parts(database, CountingStore([profile("r1", NAME)]))
    asyncio.run(at(parts, seconds))
    assert state(database).value == expected


def test_missing_hosts_are_waited_for_an_hour(sqlite_database: Database) -> None:
    parts = new_parts(sqlite_database, CountingStore([profile("r1", NAME)]))
    tell(sqlite_database, expected_hosts=4)
    asyncio.run(at(parts, 3500))
    assert state(sqlite_database) is SessionState.OPEN
    asyncio.run(at(parts, 3700))
    assert state(sqlite_database) is SessionState.COMPLETE


def test_an_old_session_is_complete_at_the_first_look(database: Database) -> None:
    old = (NOW - timedelta(days=30)).timestamp()
    store = CountingStore()
    store.put(profile("r1", NAME), modified=old)
    parts = new_parts(database, store)
    asyncio.run(parts.until_quiet())
    assert state(database) is SessionState.COMPLETE
    assert len(store.calls) == 2


def test_a_session_without_files_is_waited_for_ever_more_seldom(sqlite_database: Database) -> None:
    store = CountingStore()
    parts = new_parts(sqlite_database, store)
    tell(sqlite_database)

    async def day() -> None:
        for _ in range(24 * 4):
            await parts.until_quiet()
            parts.clock.advance(minutes=15)

    asyncio.run(day())
    assert store.calls.count(FOLDER) < 40
    store.put(profile("r1", NAME))
    asyncio.run(at(parts, 24 * 3600 + 2 * 3600))
    assert state(sqlite_database) is SessionState.COMPLETE


def test_a_silent_job_is_closed_visibly_and_opened_again_by_a_session(database: Database) -> None:
    store = CountingStore([profile("r1", NAME)])
    parts = new_parts(database, store)
    begin_attempt(database, "r1", {}, now=NOW)
    runs.create_run(database, "by-hand", runs.RunChanges(), creator="me", now=NOW)
    asyncio.run(parts.until_quiet())
    parts.clock.advance(hours=73)
    asyncio.run(parts.until_quiet())
    lost = runs.get_run(database, "r1")
    assert lost.state is RunState.LOST
    assert lost.ended == NOW + timedelta(hours=73)
    (warning,) = lost.warnings
    assert "for 72 hours nothing was heard of this job" in warning
    # What somebody made to keep profiles in has no job that could be lost.
    assert runs.get_run(database, "by-hand").state is RunState.ACTIVE
    store.put(profile("r1", "2026_03_04_14_00_00"))
    parts.clock.advance(hours=25)
    asyncio.run(parts.until_quiet())
    again = runs.get_run(database, "r1")
    assert (again.state, again.ended) == (RunState.ACTIVE, None)


def test_silent_jobs_are_closed_some_at_a_time(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MOST_CLOSED", 2)
    for run in ("r1", "r2", "r3"):
        values = runs.RunChanges(storage_root=ROOT)
        runs.create_run(sqlite_database, run, values, creator="job", now=NOW)
    before, now = NOW + timedelta(hours=1), NOW + timedelta(hours=2)
    assert attempts.close_silent(sqlite_database, before, now=now) == ("r1", "r2")
    assert attempts.close_silent(sqlite_database, before, now=now) == ("r3",)


def test_a_session_that_is_told_of_opens_a_lost_run_too(database: Database) -> None:
    parts = new_parts(database, CountingStore())
    asyncio.run(parts.until_quiet())
    parts.clock.advance(hours=73)
    asyncio.run(parts.until_quiet())
    assert runs.get_run(database, "r1").state is RunState.LOST
    new = sessions.NewSession("late", ("gs://bucket/x",), "late")
    later = parts.clock.now + timedelta(minutes=1)
    sessions.create_session(database, "r1", new, creator="job", now=later)
    parts.clock.advance(minutes=2)
    asyncio.run(parts.until_quiet())
    assert runs.get_run(database, "r1").state is RunState.ACTIVE


def test_notices_register_at_once_and_ask_storage_for_one_listing(database: Database) -> None:
    store = CountingStore()
    parts = new_parts(database, store)
    asyncio.run(parts.until_quiet())
    store.calls.clear()
    for number in range(50):
        store.put(profile("r1", NAME, f"h{number}"))
    for number in [*range(50), 3, 0]:  # some come twice
        assert parts.notices.take(profile("r1", NAME, f"h{number}"), NOW)
    assert sessions.get_session(database, "r1", NAME).kind is SessionKind.SCANNED
    assert store.calls == []
    asyncio.run(parts.until_quiet())
    assert store.calls == [FOLDER]


@dataclass(frozen=True)
class Meanwhile(Maker):
    """Has something happen after a notice has looked at what there is, and before it registers anything."""

    happens: Callable[[], None] = lambda: None

    def add_sessions(
        self,
        run: WatchedRun,
        folders: Sequence[str],
        dismissed: Collection[str],
        now: datetime,
        *,
        with_deleted: bool = False,
    ) -> int:
        self.happens()
        return super().add_sessions(run, folders, dismissed, now, with_deleted=with_deleted)


def test_a_notice_and_a_look_at_once_both_remember_what_they_saw(database: Database) -> None:
    parts = new_parts(database, CountingStore([profile("r1", NAME)]))
    uid = runs.get_run(database, "r1").uid
    add_looks(database, [Look(LookKind.RUN, uid, f"{ROOT}/r1", NOW)])

    def look() -> None:
        due = find_look(database, LookKind.RUN, uid)
        assert due is not None
        parts.looker.look(due, NOW)

    maker = Meanwhile(database, timedelta(hours=72), happens=look)
    notices = Notices(parts.rules, maker, parts.metrics)
    assert notices.take(profile("r1", "other"), NOW)
    after = find_look(database, LookKind.RUN, uid)
    assert after is not None
    assert names_in(after.note) == {NAME, "other"}
    # Nor is the look made due again, which was done in this moment.
    assert after.due == NOW + timedelta(seconds=60)


def test_a_notice_of_a_run_that_is_deleted_in_this_moment_is_over(database: Database) -> None:
    parts = new_parts(database, CountingStore())

    def delete() -> None:
        deleting.delete_run(database, "r1", etag=None, now=NOW)

    maker = Meanwhile(database, timedelta(hours=72), happens=delete)
    # Whatever is raised here would make Pub/Sub tell of it for a week.
    assert not Notices(parts.rules, maker, parts.metrics).take(profile("r1", NAME), NOW)


def test_a_session_that_can_not_be_seen_to_keeps_no_other_from_it(
    sqlite_database: Database,
) -> None:
    old, store = (NOW - timedelta(days=30)).timestamp(), CountingStore()
    names = {NAME, "other"}
    for name in names:
        store.put(profile("r1", name), modified=old)
    parts = new_parts(sqlite_database, store)
    told: list[str] = []

    async def see_to(completed: Completed) -> None:
        told.append(completed.session.id)
        raise OSError("the database is away for a moment")

    scanner = Scanner(sqlite_database, parts.looker, parts.rules, see_to, parts.clock)

    async def until_told() -> None:
        await scanner.tick()  # finds the sessions; the next one looks at them
        scanner.start()
        async with asyncio.timeout(60):
            while len(told) < 2:
                await asyncio.sleep(0.05)
        await scanner.aclose()

    asyncio.run(until_told())
    assert set(told) == names


def test_a_notice_of_a_new_host_brings_the_look_forward(database: Database) -> None:
    store = CountingStore()
    parts = new_parts(database, store)
    tell(database)
    asyncio.run(at(parts, 3600))
    store.put(profile("r1", NAME))
    store.calls.clear()
    parts.notices.take(profile("r1", NAME), parts.clock.now)
    asyncio.run(parts.until_quiet())
    assert FOLDER in store.calls


@pytest.mark.parametrize(
    "address",
    [
        f"{ROOT}/r1/checkpoints/1/weights",
        f"{ROOT}/r1/plugins/profile/{NAME}/h0.trace.json.gz",
        f"{ROOT}/r2/plugins/profile/{NAME}/h0.xplane.pb",
        f"gs://other/r1/plugins/profile/{NAME}/h0.xplane.pb",
        "gs://bucket/plugins/profile/s/h0.xplane.pb",
        "gs://bucket/.xplane.pb",
    ],
)
def test_notices_of_anything_else_change_nothing(database: Database, address: str) -> None:
    parts = new_parts(database, CountingStore())
    assert not parts.notices.take(address, NOW)


def test_a_notice_makes_a_run_where_folders_become_runs(database: Database) -> None:
    store = CountingStore([profile("new", NAME)])
    parts = Parts(database, store, Clock(NOW))
    assert parts.notices.take(profile("new", NAME), NOW)
    assert parts.notices.take(profile("new", NAME), NOW)
    assert sessions.get_session(database, "new", NAME).run == "new"
    asyncio.run(parts.until_quiet())
    deleting.delete_run(database, "new", etag=None, now=NOW)
    assert not parts.notices.take(profile("new", NAME), NOW)
