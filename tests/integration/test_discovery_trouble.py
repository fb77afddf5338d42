"""Nothing is lost and nothing found twice: 503s, several front ends, one that dies, a thousand at once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from loader.errors import ErrorCode, LoaderError
from server.discovery.importing import Importer
from server.registry import runs, sessions
from server.registry.database import Database
from server.registry.leases import give_lease_back, take_lease
from server.registry.looks import (
    Look,
    LookKind,
    add_looks,
    due_looks,
    enlist_runs_and_sessions,
)
from server.registry.pages import PageRequest
from tests.discovery_parts import ROOT, Clock, CountingStore, Parts, profile, unavailable

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NAMES = [f"2025_0{month}_01_12_00_00" for month in (1, 2, 3)]


def found(database: Database) -> dict[str, list[str]]:
    """Folders of the sessions of each run."""
    page = runs.list_runs(database, PageRequest(1000, "id", False, None))
    return {
        run.id: sorted(
            session.locations[0]
            for session in sessions.list_sessions(
                database, run.id, PageRequest(1000, "id", False, None)
            ).records
        )
        for run in page.records
    }


def folders(*names: str) -> dict[str, list[str]]:
    return {run: [f"{ROOT}/{run}/plugins/profile/{name}" for name in NAMES] for run in names}


def every_third(calls: list[str]) -> Callable[[str], None]:
    """Answers 503 to every third listing, as a bucket does that is asked too much."""
    lock = threading.Lock()

    def trouble(location: str) -> None:
        with lock:
            calls.append(location)
            fails = len(calls) % 3 == 0
        if fails:
            unavailable(location)

    return trouble


def test_a_bucket_that_answers_503_now_and_then_loses_nothing(database: Database) -> None:
    names = [f"run-{number}" for number in range(20)]
    store = CountingStore(profile(run, name) for run in names for name in NAMES)
    store.trouble = every_third([])
    parts = Parts(database, store, Clock(NOW))

    async def hour() -> None:
        for _ in range(60):
            parts.completed += await parts.scanner.tick()
            parts.clock.advance(minutes=1)

    asyncio.run(hour())
    assert found(database) == folders(*names)
    uids = [one.session.uid for one in parts.completed]
    assert len(uids) == len(set(uids)) == 60


def test_a_bucket_that_answers_nothing_is_left_alone(sqlite_database: Database) -> None:
    names = [f"run-{number}" for number in range(20)]
    for run in names:
        values = runs.RunChanges(storage_root=ROOT)
        runs.create_run(sqlite_database, run, values, creator="job", now=NOW)
    store = CountingStore(profile(run, name) for run in names for name in NAMES)
    asked: list[str] = []

    def trouble(location: str) -> None:
        asked.append(location)
        unavailable(location)

    store.trouble = trouble
    parts = Parts(sqlite_database, store, Clock(NOW), adopts=False)

    async def tick_for(minutes: float) -> None:
        for _ in range(int(minutes * 30)):
            await parts.scanner.tick()
            parts.clock.advance(seconds=2)

    asyncio.run(tick_for(30))
    # 20 runs and a root after 0, 0.5, 1.5, 3.5, 7.5 and 15.5 minutes, and less for the pauses.
    assert len(asked) <= 21 * 6
    # The run itself says nothing of a trouble that passes.
    assert runs.get_run(sqlite_database, "run-0").warnings == ()
    store.trouble = lambda _location: None
    parts.clock.advance(hours=2)
    asyncio.run(parts.until_quiet())
    assert found(sqlite_database) == folders(*names)


def test_a_run_says_why_its_folder_is_not_looked_at(database: Database) -> None:
    values = runs.RunChanges(storage_root=ROOT)
    runs.create_run(database, "r1", values, creator="job", now=NOW)

    def forbidden(_location: str) -> None:
        raise LoaderError(ErrorCode.PERMISSION_DENIED, "XProf Hub may not read bucket b.")

    store = CountingStore()
    store.trouble = forbidden
    parts = Parts(database, store, Clock(NOW), roots=())
    for _ in range(3):
        asyncio.run(parts.until_quiet())
        parts.clock.advance(hours=2)
    (warning,) = runs.get_run(database, "r1").warnings
    assert warning == "Sessions of this run are not looked for: XProf Hub may not read bucket b."


def test_one_front_end_looks_at_a_time_and_another_takes_over(database: Database) -> None:
    store = CountingStore(profile("r1", name) for name in NAMES)
    parts = Parts(database, store, Clock(NOW))
    first, second = parts.scanner, parts.new_scanner()
    asyncio.run(first.tick())
    assert store.calls
    store.calls.clear()
    parts.clock.advance(seconds=29)
    assert asyncio.run(second.tick()) == []
    assert store.calls == []
    # The first one is gone: its lease ends half a minute after it was last prolonged.
    parts.clock.advance(seconds=2)
    asyncio.run(parts.until_quiet(second))
    assert found(database) == folders("r1")
    store.calls.clear()
    parts.clock.advance(seconds=1)
    asyncio.run(first.tick())
    assert store.calls == []


def test_two_that_look_at_once_find_everything_once(database: Database) -> None:
    """As after a lease that ended while its holder was slow."""
    names = [f"run-{number}" for number in range(10)]
    store = CountingStore(profile(run, name) for run in names for name in NAMES)
    several = [Parts(database, store, Clock(NOW)) for _ in range(3)]

    def look(parts: Parts) -> None:
        add_looks(database, [Look(LookKind.ROOT, ROOT, "", NOW)])
        for _ in range(6):
            for one in due_looks(database, NOW, 100):
                parts.looker.look(one, NOW)

    threads = [threading.Thread(target=look, args=(parts,)) for parts in several]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(several[0].until_quiet())
    assert found(database) == folders(*names)


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5, 6, 7, 8])
def test_who_is_cut_off_anywhere_goes_on_there(database: Database, calls: int) -> None:
    class KilledError(BaseException):
        pass

    store = CountingStore(profile(run, name) for run in ("r1", "r2") for name in NAMES)
    left = [calls]

    def kill(_location: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    store.trouble = kill
    parts = Parts(database, store, Clock(NOW))
    with pytest.raises(KilledError):
        while True:
            for look in _due(parts):
                parts.looker.look(look, parts.clock.now)
    store.trouble = lambda _location: None
    parts.clock.advance(minutes=1)
    asyncio.run(parts.until_quiet(parts.new_scanner()))
    assert found(database) == folders("r1", "r2")


def _due(parts: Parts) -> tuple[Look, ...]:
    add_looks(parts.database, [Look(LookKind.ROOT, ROOT, "", parts.clock.now)])
    enlist_runs_and_sessions(parts.database, parts.clock.now)
    return due_looks(parts.database, parts.clock.now, 50)


def test_an_import_that_was_broken_off_is_begun_again(database: Database) -> None:
    names = [f"run-{number:02}" for number in range(30)]
    store = CountingStore(profile(run, name) for run in names for name in NAMES)
    parts = Parts(database, store, Clock(NOW), roots=())
    importer = Importer(store, parts.maker, parts.rules.pace)
    first = importer.take_page(ROOT, "", 10, is_dry=False, now=NOW)
    assert [run.outcome for run in first.runs] == ["NEW"] * 10
    again = importer.take_page(ROOT, "", 10, is_dry=False, now=NOW)
    assert [(run.outcome, run.new_sessions) for run in again.runs] == [("KNOWN", 0)] * 10
    second = importer.take_page(ROOT, first.next, 10, is_dry=False, now=NOW)
    third = importer.take_page(ROOT, second.next, 10, is_dry=False, now=NOW)
    assert third.next == ""
    assert found(database) == folders(*names)


def test_a_runs_own_folder_is_imported_as_one_run(database: Database) -> None:
    store = CountingStore(profile("r1", name) for name in NAMES)
    store.put(f"{ROOT}/r1/checkpoints/1/weights")
    parts = Parts(database, store, Clock(NOW), roots=())
    importer = Importer(store, parts.maker, parts.rules.pace)
    page = importer.take_page(f"{ROOT}/r1", "", 100, is_dry=False, now=NOW)
    assert [(run.run, run.new_sessions) for run in page.runs] == [("r1", 3)]
    assert found(database) == folders("r1")


def test_runs_beside_a_folder_that_is_called_like_a_part_of_one_are_imported(
    database: Database,
) -> None:
    names = ["alpha", "tensorboard", "zeta"]
    store = CountingStore(profile(run, name) for run in names for name in NAMES)
    parts = Parts(database, store, Clock(NOW), roots=())
    importer = Importer(store, parts.maker, parts.rules.pace)
    page = importer.take_page(ROOT, "", 2, is_dry=False, now=NOW)
    # One of MaxText's folders: nobody can tell whether it is a run, so the folder above counts as one, too.
    assert [run.run for run in page.runs] == ["team", "alpha"]
    page = importer.take_page(ROOT, page.next, 2, is_dry=False, now=NOW)
    assert [run.run for run in page.runs] == ["zeta"]
    there = folders(*names)
    assert found(database) == {**folders("alpha", "zeta"), "team": there["tensorboard"]}


def test_a_thousand_sessions_of_a_hundred_runs_at_once(database: Database) -> None:
    """A bucket's notices and looks at the runs' folders tell of the same sessions in the same moment."""
    names = [f"run-{number:03}" for number in range(100)]
    for run in names:
        values = runs.RunChanges(storage_root=ROOT)
        runs.create_run(database, run, values, creator="job", now=NOW)
    enlist_runs_and_sessions(database, NOW)
    # Only these: what a look at a session does is not asked here, and would take most of the time.
    looks = due_looks(database, NOW, 1000)
    assert [look.kind for look in looks] == [LookKind.RUN] * 100
    days = [f"2025_01_{day:02}_12_00_00" for day in range(1, 11)]
    store = CountingStore(profile(run, day) for run in names for day in days)
    parts = Parts(database, store, Clock(NOW), roots=(), adopts=False)

    def notify(number: int) -> None:
        for position in range(number, 1000, 6):
            # The last runs first: looks and notices meet in the middle.
            run, day = names[99 - position // 10], days[position % 10]
            parts.notices.take(profile(run, day), NOW)

    def look(number: int) -> None:
        for one in looks[number::2]:
            parts.looker.look(one, NOW)

    with ThreadPoolExecutor(8) as pool:
        working = [pool.submit(notify, number) for number in range(6)]
        working += [pool.submit(look, number) for number in range(2)]
        for one in working:
            one.result()
    assert found(database) == {
        run: [f"{ROOT}/{run}/plugins/profile/{day}" for day in days] for run in names
    }


def test_a_lease_is_one_holders(database: Database) -> None:
    lasting = timedelta(seconds=30)
    holders: list[int] = []

    def take(number: int) -> None:
        if take_lease(database, "work", str(number), now=NOW, lasting=lasting):
            holders.append(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (holder,) = holders
    give_lease_back(database, "work", "somebody else")
    assert not take_lease(database, "work", "next", now=NOW, lasting=lasting)
    give_lease_back(database, "work", str(holder))
    assert take_lease(database, "work", "next", now=NOW, lasting=lasting)


def test_a_folder_that_nobody_foresaw_stops_no_other(sqlite_database: Database) -> None:
    store = CountingStore(profile(run, name) for run in ("bad", "good") for name in NAMES)

    def trouble(location: str) -> None:
        if "/bad/" in location:
            raise ZeroDivisionError

    store.trouble = trouble
    parts = Parts(sqlite_database, store, Clock(NOW))
    asyncio.run(parts.until_quiet())
    assert found(sqlite_database) == folders("good")
    store.trouble = lambda _location: None
    parts.clock.advance(minutes=1)
    asyncio.run(parts.until_quiet())
    assert found(sqlite_database) == folders("bad", "good")
