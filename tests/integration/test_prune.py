"""Deleting what is due, on both databases: rows, what was made of sessions, profiles where that is set."""

from __future__ import annotations

import threading
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from auth.links import SessionTarget, create_link
from loader.caches.artifacts import DirectoryArtifacts
from loader.caches.results import DirectoryResults, ResultHeader
from loader.errors import ErrorCode, LoaderError
from loader.keys import session_mark
from loader.storage.roots import open_storage
from server.audit.log import hub_event
from server.lifecycle.originals import Originals
from server.lifecycle.prune import Places, Pruner, PruneReport, PruneRules
from server.lifecycle.restoring import bring_session_back
from server.registry import deleting, groups, runs, session_changes, sessions
from server.registry.audit import add_audit_event
from server.registry.database import Database
from server.registry.errors import RegistryError
from server.registry.links import SqlLinkStore
from server.registry.models import LeftoverRow, SessionRow
from server.registry.operations import add_operation
from server.registry.people_models import RunGroupRow

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GRACE = timedelta(days=7)
RULES = PruneRules(GRACE, timedelta(days=365))
LATER = NOW + GRACE + timedelta(seconds=1)


class Disk:
    """A cache root and a storage root in one folder."""

    def __init__(self, folder: Path) -> None:
        self.profiles, self.uploads = folder / "profiles", folder / "uploads"
        for root in (self.profiles, self.uploads):
            root.mkdir()
        self.artifacts = DirectoryArtifacts(folder / "artifacts", 1 << 20)
        self.results = DirectoryResults(folder / "results", 1 << 20)

    def places(self, *, with_originals: bool = False) -> Places:
        roots = (str(self.profiles), str(self.uploads))
        originals = Originals(open_storage(roots), roots) if with_originals else None
        return Places((self.results, self.artifacts), originals)

    def profile(self, name: str, *more: str) -> str:
        folder = self.profiles / name
        folder.mkdir(parents=True)
        for file in ("a.xplane.pb", "a.trace.json.gz", *more):
            (folder / file).write_bytes(b"x")
        return str(folder)

    def make(self, *locations: str) -> str:
        """Leaves what a conversion leaves of a session; its key."""
        key = session_mark(locations) + "0" * 48
        file = self.profiles.parent / "made"
        file.write_bytes(b"made")
        self.artifacts.publish(key, [file], ["a"], [])
        self.results.put(key, ResultHeader("a/b", 4, 4), file, 60)
        return key

    def has(self, key: str) -> tuple[bool, bool]:
        return self.artifacts.contains(key), self.results.contains(key)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def attach(database: Database, name: str, *locations: str, **values: object) -> str:
    """Attaches `RUN/SESSION`, and makes the run if it is not there; the session's identity."""
    run, _, session = name.partition("/")
    try:
        runs.get_run(database, run)
    except RegistryError:
        runs.create_run(database, run, runs.RunChanges(run_set="g"), creator="me", now=NOW)
    new = sessions.NewSession(session, locations or ("/p",), session, **values)  # type: ignore[arg-type]
    return sessions.create_session(database, run, new, creator="me", now=NOW).uid


def prune(database: Database, places: Places, now: datetime) -> PruneReport:
    return Pruner(database, places, RULES).run(now)


def count(database: Database, rows: type[SessionRow] | type[LeftoverRow]) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(rows)) or 0


def test_a_session_that_is_over_goes_in_two_steps(database: Database, disk: Disk) -> None:
    place, other = disk.profile("r/s"), disk.profile("r/t")
    uid = attach(database, "r/s", place, expires=NOW)
    attach(database, "r/t", other)
    made, kept = disk.make(place), disk.make(other)
    store = SqlLinkStore(database)
    target = SessionTarget("r", "s", uid)
    link, _ = create_link(store, target=target, creator="me", now=NOW, expires=None)

    assert prune(database, disk.places(), NOW - timedelta(seconds=1)).counts.total() == 0
    report = prune(database, disk.places(), NOW)
    assert (report.expired, report.counts["expired_sessions"]) == (
        ["machineLearningRuns/r/profilerSessions/s"],
        1,
    )
    assert sessions.find_session_by_uid(database, uid) is None
    assert store.get_link(link.id).revoked == NOW
    assert disk.has(made) == (True, True)

    assert prune(database, disk.places(), NOW + GRACE - timedelta(seconds=1)).counts.total() == 0
    report = prune(database, disk.places(), LATER)
    assert (report.counts["sessions"], report.counts["leftovers"]) == (1, 1)
    assert (disk.has(made), disk.has(kept)) == ((False, False), (True, True))
    assert sorted(path.name for path in Path(place).iterdir()) == ["a.trace.json.gz", "a.xplane.pb"]
    assert sessions.get_session(database, "r", "t").locations == (other,)
    assert count(database, LeftoverRow) == 0
    with pytest.raises(RegistryError):
        bring_session_back(database, "r", "s", now=LATER)
    assert prune(database, disk.places(), LATER).counts.total() == 0


def test_a_deleted_run_goes_with_its_sessions_unless_something_is_held(
    database: Database, disk: Disk
) -> None:
    keys = [disk.make(disk.profile(f"{name}/s")) for name in ("gone", "held")]
    for name in ("gone", "held"):
        attach(database, f"{name}/s", str(disk.profiles / name / "s"))
    runs.change_run(
        database, "held", lambda _: runs.RunChanges(run_set="legal"), etag=None, now=NOW
    )
    for name in ("gone", "held"):
        deleting.delete_run(database, name, etag=None, now=NOW)
    hold(database, True)
    assert prune(database, disk.places(), LATER).counts["runs"] == 1
    assert [disk.has(key) for key in keys] == [(False, False), (True, True)]
    hold(database, False)
    assert prune(database, disk.places(), LATER).counts["runs"] == 1
    assert disk.has(keys[1]) == (False, False)


def hold(database: Database, is_held: bool) -> None:
    groups.change_group(
        database,
        "legal",
        lambda _: groups.GroupChanges(is_held=is_held),
        etag=None,
        by="me",
        now=NOW,
        may_make=True,
    )


def test_what_keeps_a_session_keeps_it_from_being_pruned(database: Database, disk: Disk) -> None:
    names = ["due", "pinned", "held", "later", "by-group"]
    values: dict[str, dict[str, object]] = {
        "due": {"expires": NOW},
        "pinned": {"expires": NOW, "is_pinned": True},
        "held": {"expires": NOW, "is_held": True},
        "later": {"expires": NOW + timedelta(days=90)},
        "by-group": {},
    }
    for name in names:
        attach(database, f"r/{name}", f"/p/{name}", **values[name])
    groups.change_group(
        database,
        "g",
        lambda _: groups.GroupChanges(session_days=30),
        etag=None,
        by="me",
        now=NOW,
    )
    ends = [
        [name.rpartition("/")[2] for name in prune(database, disk.places(), at).expired]
        for at in (NOW, NOW + timedelta(days=30), NOW + timedelta(days=90))
    ]
    assert ends == [["due"], ["by-group"], ["later"]]


def test_any_number_of_groups_may_have_an_end(database: Database, disk: Disk) -> None:
    with database.writing() as session:
        for number in range(1200):
            days, is_held = 1 + number % 50, number == 1150
            values = {"note": "", "updater": "me", "updated": NOW, "version": 1}
            session.add(RunGroupRow(id=f"g{number}", session_days=days, is_held=is_held, **values))
    for number in (0, 1, 1100, 1150):  # after 1, 2, 1 and (but it is held) 1 day
        new = runs.RunChanges(run_set=f"g{number}")
        runs.create_run(database, f"r{number}", new, creator="me", now=NOW)
        attach(database, f"r{number}/s", f"/p/{number}")
    report = prune(database, disk.places(), NOW + timedelta(days=1))
    assert sorted(report.expired) == [
        f"machineLearningRuns/r{number}/profilerSessions/s" for number in (0, 1100)
    ]


def test_one_that_came_back_is_kept(database: Database, disk: Disk) -> None:
    for name, end in (("over", NOW), ("later", NOW + timedelta(days=90))):
        attach(database, f"r/{name}", f"/p/{name}", expires=end)
        deleting.delete_session(database, "r", name, etag=None, now=NOW)
        bring_session_back(database, "r", name, now=NOW)
    assert prune(database, disk.places(), LATER).counts.total() == 0
    pinned = [sessions.get_session(database, "r", name).is_pinned for name in ("over", "later")]
    assert pinned == [True, False]


def test_profiles_are_removed_where_that_is_set_and_they_are_nobody_elses(
    database: Database, disk: Disk
) -> None:
    mine = disk.profile("mine", "notes.txt", "b.ckpt")
    shared = disk.profile("shared")
    upload = disk.uploads / "0123" / "s"
    upload.mkdir(parents=True)
    (upload / "h.xplane.pb").write_bytes(b"x")
    attach(database, "r/mine", mine)
    attach(database, "r/shared", shared)
    attach(database, "r/uploaded", str(upload))
    attach(database, "other/file", f"{shared}/a.xplane.pb")
    for session in ("mine", "shared", "uploaded"):
        deleting.delete_session(database, "r", session, etag=None, now=NOW)
    report = prune(database, disk.places(with_originals=True), LATER)
    assert report.counts["profiles"] == 3
    assert sorted(path.name for path in Path(mine).iterdir()) == ["b.ckpt", "notes.txt"]
    assert len(list(Path(shared).iterdir())) == 2
    assert list(disk.uploads.iterdir()) == []


def test_profiles_outside_the_roots_or_behind_a_link_stay(
    database: Database, disk: Disk, tmp_path: Path
) -> None:
    real, outside = Path(disk.profile("real")), tmp_path / "outside"
    (disk.profiles / "link").symlink_to(real)
    outside.mkdir()
    (outside / "a.xplane.pb").write_bytes(b"x")
    for name, place in (("link", disk.profiles / "link"), ("outside", outside)):
        attach(database, f"r/{name}", str(place))
        deleting.delete_session(database, "r", name, etag=None, now=NOW)
    report = prune(database, disk.places(with_originals=True), LATER)
    assert report.counts["profiles"] == 0
    assert (outside / "a.xplane.pb").exists()
    assert len(list(real.iterdir())) == 2
    # What no pass may ever remove is told once, and is no reason to fail every night.
    assert (report.counts["places_outside"], report.problems) == (1, [])
    again = prune(database, disk.places(with_originals=True), LATER + timedelta(days=1))
    assert (again.counts["places_outside"], again.problems) == (0, [])


def test_profiles_that_another_session_reaches_by_a_link_stay(
    sqlite_database: Database, disk: Disk
) -> None:
    database = sqlite_database
    (disk.profiles / "link").symlink_to(disk.profiles / "real")
    for name, place in (("s", "real/s"), ("t", "real/t"), ("other/u", "link/s")):
        folder = disk.profiles / place
        if "link" not in place:
            disk.profile(place)
        attach(database, name if "/" in name else f"r/{name}", str(folder))
    for session in ("s", "t"):
        deleting.delete_session(database, "r", session, etag=None, now=NOW)
    assert prune(database, disk.places(with_originals=True), LATER).counts["profiles"] == 2
    assert [path.name for path in (disk.profiles / "real").iterdir()] == ["s"]
    deleting.delete_run(database, "other", etag=None, now=LATER)
    prune(database, disk.places(with_originals=True), LATER + GRACE)
    assert len(list((disk.profiles / "real" / "s").iterdir())) == 2


def test_artifacts_that_another_session_shares_are_kept(database: Database, disk: Disk) -> None:
    place = disk.profile("s")
    made = disk.make(place)
    attach(database, "r/s", place)
    attach(database, "other/s", place)
    deleting.delete_session(database, "r", "s", etag=None, now=NOW)
    prune(database, disk.places(), LATER)
    assert disk.has(made) == (True, True)
    deleting.delete_run(database, "other", etag=None, now=LATER)
    prune(database, disk.places(), LATER + GRACE)
    assert disk.has(made) == (False, False)


class BrokenStore:
    """A store that answers 503 for a time."""

    def __init__(self) -> None:
        self.is_broken = True
        self.forgotten: set[str] = set()

    def forget(self, marks: Collection[str]) -> int:
        if self.is_broken:
            raise LoaderError(ErrorCode.STORAGE_UNAVAILABLE, "The bucket does not answer.")
        self.forgotten |= set(marks)
        return len(marks)


def test_a_bucket_that_does_not_answer_is_asked_again_the_next_time(
    sqlite_database: Database, disk: Disk
) -> None:
    store = BrokenStore()
    places = Places((store,), disk.places(with_originals=True).originals)
    place = disk.profile("s")
    attach(sqlite_database, "r/s", place)
    deleting.delete_session(sqlite_database, "r", "s", etag=None, now=NOW)
    report = prune(sqlite_database, places, LATER)
    assert report.problems == ["The bucket does not answer."]
    # Not the profile either, and the session is gone from the registry all the same.
    assert len(list(Path(place).iterdir())) == 2
    assert (count(sqlite_database, SessionRow), count(sqlite_database, LeftoverRow)) == (0, 1)
    store.is_broken = False
    report = prune(sqlite_database, places, LATER)
    assert (report.problems, report.counts["leftovers"], report.counts["profiles"]) == ([], 1, 2)
    assert store.forgotten == {session_mark((place,))}
    assert not Path(place).exists()


def test_two_at_once_delete_each_thing_once(database: Database, disk: Disk) -> None:
    for number in range(24):
        place = disk.profile(f"s{number}")
        attach(database, f"r{number % 4}/s{number}", place, expires=NOW)
        disk.make(place)
    deleting.delete_run(database, "r0", etag=None, now=NOW - GRACE)
    barrier = threading.Barrier(2)

    def both(now: datetime) -> PruneReport:
        barrier.wait()
        return prune(database, disk.places(with_originals=True), now)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(both, [NOW, NOW])
        assert first.counts["runs"] + second.counts["runs"] == 1
        assert first.counts["expired_sessions"] + second.counts["expired_sessions"] == 18
        third, fourth = pool.map(both, [LATER, LATER])
    assert third.counts["sessions"] + fourth.counts["sessions"] == 18
    assert not any((*first.problems, *second.problems, *third.problems, *fourth.problems))
    prune(database, disk.places(with_originals=True), LATER)
    assert (count(database, SessionRow), count(database, LeftoverRow)) == (0, 0)
    assert list(disk.profiles.iterdir()) == []
    assert list(Path(disk.profiles.parent / "artifacts").iterdir()) == []


def test_rows_that_are_over_go_and_a_dry_run_only_counts_them(
    database: Database, disk: Disk
) -> None:
    for age in (timedelta(0), timedelta(days=2)):
        add_operation(database, parent="p", verb="create", target="t", now=NOW - age)
    attach(database, "r/s", "/p/s", expires=NOW)
    for _ in range(2):
        add_audit_event(database, hub_event("prune", "runs.write", "delete", "x"), None)
    late = datetime.now(UTC) + timedelta(days=366)
    dry = Pruner(database, disk.places(), RULES, is_dry=True).run(NOW)
    assert dict(dry.counts)["expired_sessions"] == dry.counts["operations"] == 1
    assert dry.expired == ["machineLearningRuns/r/profilerSessions/s"]
    assert (dry.counts["audit_events"], count(database, SessionRow)) == (0, 1)
    report = prune(database, disk.places(), NOW)
    assert report.counts["operations"] == report.counts["expired_sessions"] == 1
    assert verbs(database) == {"delete"}
    assert prune(database, disk.places(), LATER).counts["audit_events"] == 0
    assert verbs(database) == {"delete", "purge"}
    # The two of above, and two of the session.
    assert prune(database, disk.places(), late).counts["audit_events"] == 4
    assert verbs(database) == set()


def verbs(database: Database) -> set[str]:
    """What the audit log says that pruning has done to the session."""
    query = "SELECT verb FROM audit_events WHERE actor = 'hub:prune' AND resource LIKE '%/s'"
    with database.reading() as session:
        return set(session.scalars(text(query)))


def test_a_deletion_that_was_to_expire_changes_with_what_is_said_meanwhile(
    sqlite_database: Database, disk: Disk
) -> None:
    uid = attach(sqlite_database, "r/s", "/p/s", expires=NOW)
    change = session_changes.SessionChanges(is_pinned=True)
    session_changes.change_session(sqlite_database, "r", "s", lambda _: change, etag=None, now=NOW)
    assert prune(sqlite_database, disk.places(), LATER).expired == []
    assert sessions.find_session_by_uid(sqlite_database, uid) is not None
