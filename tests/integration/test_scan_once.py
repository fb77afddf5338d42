"""One pass over all roots, as a scheduled job makes it: finds what is there, beside whoever else looks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from server.discovery.once import Pass, ScanReport
from server.registry import attempts, runs, sessions
from server.registry.database import Database
from server.registry.pages import PageRequest
from server.registry.records import RunState, SessionState
from tests.contract.commands import Commands
from tests.discovery_parts import ROOT, Clock, CountingStore, Parts, profile, unavailable
from tests.services.hub import KEPT_VARIABLES

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OLD = "2025_01_31_12_00_00"
FRESH = "20260301_115500_123456"
EMPTY = {"runs": 0, "sessions": 0, "complete": 0}


def scan(parts: Parts, now: datetime = NOW) -> ScanReport:
    return Pass(parts.database, parts.looker, parts.rules).run(now)


def counted(report: ScanReport) -> dict[str, int]:
    return {name: report.counts[name] for name in EMPTY}


def folders_of(database: Database) -> list[str]:
    """Where the registered sessions lie."""
    found = []
    for run in runs.list_runs(database, PageRequest(1000, "id", False, None)).records:
        page = sessions.list_sessions(database, run.id, PageRequest(1000, "id", False, None))
        found += [place for session in page.records for place in session.locations]
    return sorted(found)


def test_a_pass_finds_runs_and_sessions_and_the_next_one_sees_them_complete(
    database: Database,
) -> None:
    store = CountingStore([profile("old", OLD), profile("new", FRESH), f"{ROOT}/notes.txt"])
    parts = Parts(database, store, Clock(NOW), adopts=True)
    report = scan(parts)
    assert (counted(report), report.problems) == ({"runs": 2, "sessions": 2, "complete": 0}, [])
    later = NOW + timedelta(minutes=10)
    assert counted(scan(parts, later)) == {"runs": 0, "sessions": 0, "complete": 2}
    (session,) = sessions.list_sessions(
        database, "new", PageRequest(1000, "id", False, None)
    ).records
    assert session.state is SessionState.COMPLETE
    assert counted(scan(parts, later + timedelta(minutes=10))) == EMPTY


def test_a_root_is_read_from_its_beginning_although_it_is_not_due(
    sqlite_database: Database,
) -> None:
    """Somebody has just read it, or stopped half way."""
    store = CountingStore([profile(f"r{number:04}", OLD) for number in range(1500)])
    parts = Parts(sqlite_database, store, Clock(NOW), adopts=False)
    asyncio.run(parts.scanner.tick())
    assert store.calls == [ROOT], "one page of two"
    runs.create_run(sqlite_database, "r0000", runs.RunChanges(), creator="job", now=NOW)
    assert counted(scan(parts)) == {**EMPTY, "sessions": 1}
    assert counted(scan(parts)) == EMPTY
    runs.create_run(sqlite_database, "r0001", runs.RunChanges(), creator="job", now=NOW)
    assert counted(scan(parts)) == {**EMPTY, "sessions": 1}, "within the minute of the root's pace"


def test_what_is_quiet_is_not_looked_at_each_time(sqlite_database: Database) -> None:
    runs.create_run(
        sqlite_database, "ended", runs.RunChanges(storage_root=ROOT), creator="job", now=NOW
    )
    attempts.set_state(sqlite_database, "ended", RunState.COMPLETED, now=NOW)
    store = CountingStore([profile("ended", OLD)])
    parts = Parts(sqlite_database, store, Clock(NOW), roots=())
    scan(parts)
    scan(parts, NOW + timedelta(minutes=5))
    store.calls.clear()
    scan(parts, NOW + timedelta(minutes=10))
    assert store.calls == []


def test_two_passes_and_a_front_end_at_once_register_everything_once(database: Database) -> None:
    names = [f"r{number}" for number in range(12)]
    store = CountingStore([profile(name, when) for name in names for when in (OLD, FRESH)])
    parts = [Parts(database, store, Clock(NOW), adopts=True) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        passes = [threads.submit(scan, one) for one in parts[:2]]
        front = threads.submit(asyncio.run, parts[2].until_quiet())
        reports = [one.result() for one in passes]
        front.result()
    expected = [f"{ROOT}/{name}/plugins/profile/{when}" for name in names for when in (OLD, FRESH)]
    assert folders_of(database) == sorted(expected)
    assert sum(report.counts["sessions"] for report in reports) <= len(expected)
    assert all(report.problems == [] for report in reports)


def test_a_root_that_can_not_be_read_is_named_and_hides_no_other(
    sqlite_database: Database,
) -> None:
    def refuse(location: str) -> None:
        if location.startswith("gs://closed/"):
            raise LoaderError(ErrorCode.PERMISSION_DENIED, "The bucket may not be read.")

    store = CountingStore([profile("r", FRESH)])
    store.trouble = refuse
    roots = ("gs://closed/x", ROOT)
    parts = Parts(sqlite_database, store, Clock(NOW), adopts=True, roots=roots)
    report = scan(parts)
    assert report.counts["sessions"] == 1
    assert report.problems == ["gs://closed/x could not be read: The bucket may not be read."]


def test_storage_in_trouble_is_left_alone(sqlite_database: Database) -> None:
    for number in range(120):
        values = runs.RunChanges(storage_root=ROOT)
        runs.create_run(sqlite_database, f"r{number}", values, creator="job", now=NOW)
    store = CountingStore()
    asked: list[str] = []

    def fail(location: str) -> None:
        asked.append(location)
        unavailable(location)

    store.trouble = fail
    report = scan(Parts(sqlite_database, store, Clock(NOW)))
    assert len(asked) <= 50
    assert any("the next scan looks at the rest" in problem for problem in report.problems)
    store.trouble = lambda _location: None
    assert scan(Parts(sqlite_database, store, Clock(NOW)), NOW + timedelta(hours=1)).problems == []


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of a hub whose front ends look for nothing, with 20 sessions to be found."""
    for number in range(20):
        folder = tmp_path / "runs" / f"r{number % 4}" / "plugins" / "profile" / f"s{number}"
        folder.mkdir(parents=True)
        (folder / "vm.xplane.pb").write_bytes(b"x")
    return {
        "XPROF_HUB_DATABASE_URL": f"sqlite:///{tmp_path / 'registry.sqlite'}",
        "XPROF_HUB_DATA_DIR": str(tmp_path / "data"),
        "XPROF_HUB_STORAGE_ROOTS": str(tmp_path / "runs"),
        "XPROF_HUB_SCAN_ROOTS": str(tmp_path / "runs"),
        "XPROF_HUB_AUTO_REGISTER": "true",
        "XPROF_HUB_SCAN_SECONDS": "0",
    }


def test_the_command_finds_all_sessions_when_it_runs_twice_at_once(
    environment: dict[str, str], tmp_path: Path
) -> None:
    variables = {key: os.environ[key] for key in KEPT_VARIABLES if key in os.environ}
    command = [str(Path(sys.executable).parent / "xprof-hub"), "scan", "--json"]
    started = [
        subprocess.Popen(command, env={**variables, **environment}, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    found = [json.loads(process.communicate(timeout=120)[0]) for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert [one["problems"] for one in found] == [[], []]
    assert sum(one["sessions"] for one in found) == 20
    assert sum(one["runs"] for one in found) >= 4
    database = Database(environment["XPROF_HUB_DATABASE_URL"])
    assert len(folders_of(database)) == 20
    database.close()


def test_the_command_says_what_it_found_and_which_root_it_could_not_read(
    environment: dict[str, str], tmp_path: Path
) -> None:
    commands = Commands("http://127.0.0.1:9")
    commands.environment |= environment
    first = commands.lines("scan")
    assert [line.split()[-1] for line in first[:2]] == ["4", "20"]
    outside = tmp_path / "elsewhere"
    commands.environment["XPROF_HUB_SCAN_ROOTS"] += f",{outside}"
    result = commands.run("scan", "--json")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    assert problem.startswith(f"{outside} could not be read: ")


def test_without_a_database_the_command_fails_in_words(environment: dict[str, str]) -> None:
    commands = Commands("http://127.0.0.1:9")
    commands.environment |= environment | {
        "XPROF_HUB_DATABASE_URL": "postgresql+psycopg://u:secret@127.0.0.1:9/d"
    }
    result = commands.run("scan")
    assert result.exit_code != 0
    assert "secret" not in result.output
    assert "Traceback" not in result.output
