"""What jobs and uploads may pile up: attempts, operations, bytes."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from loader.errors import ErrorCode, LoaderError
from server.lifecycle.prune import Places, Pruner, PruneRules
from server.registry import attempts, deleting, groups, operations, runs, sessions
from server.registry.database import Database
from server.registry.keeping import storage_of_runs, uploaded_bytes
from server.registry.pages import PageRequest
from server.registry.records import SessionKind, SessionOrigin
from server.registry.run_lists import RunQuery, search_runs
from server.registry.summaries import HostSize, SessionSummary, keep_summary
from server.uploads.room import UploadRoom
from tests.attempts import begin_attempt, list_attempts

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_the_newest_attempts_of_a_run_are_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MOST_KEPT", 3)
    for run in ("r", "other"):
        runs.create_run(database, run, runs.RunChanges(), creator="me", now=NOW)
    begin_attempt(database, "other", {}, now=NOW)
    for _ in range(5):
        begin_attempt(database, "r", {}, now=NOW)
    assert [one.number for one in list_attempts(database, "r")] == [3, 4, 5]
    assert [one.number for one in list_attempts(database, "other")] == [1]


def test_the_newest_operations_on_a_target_are_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "MOST_OF_A_TARGET", 3)
    made = [
        operations.add_operation(
            database,
            parent="p",
            verb="update",
            target="b" if number == 0 else "a",
            now=NOW + timedelta(seconds=number),
        )
        for number in range(6)
    ]
    found = operations.list_operations(database, "p", PageRequest(10)).records
    assert [one.id for one in found] == [made[number].id for number in (5, 4, 3, 0)]


def test_there_is_room_for_an_upload_as_long_as_disk_and_quota_say_so(
    sqlite_database: Database, tmp_path: Path
) -> None:
    free = shutil.disk_usage(tmp_path).free
    assert refusal(UploadRoom(sqlite_database, str(tmp_path), 0, 2 * free), 0)
    assert refusal(UploadRoom(sqlite_database, str(tmp_path), 0, free // 2), free)
    UploadRoom(sqlite_database, str(tmp_path), 0, free // 2).require(free // 4)
    UploadRoom(sqlite_database, "gs://bucket/uploads", 0, 2 * free).require(2 * free)


def test_uploads_count_until_they_are_gone_for_good_and_runs_show_what_is_theirs(
    database: Database, tmp_path: Path
) -> None:
    run = runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    origin = keep(database, "uploaded", 700, kind=SessionKind.UPLOADED)
    keep(database, "attached", 50)
    keep(database, "merged", 700, merged_from=(SessionOrigin("uploaded", origin),))
    assert storage_of_runs(database, [run.uid, "unknown"]) == {run.uid: 750}
    assert uploaded_bytes(database) == 700
    room = UploadRoom(database, str(tmp_path), 1000, 0)
    room.require(300)
    assert "1000 bytes" in refusal(room, 301)
    deleting.delete_session(database, "r", "uploaded", etag=None, now=NOW)
    assert storage_of_runs(database, [run.uid]) == {run.uid: 50}
    assert refusal(room, 301)
    purge = PruneRules(timedelta(0), timedelta(days=1))
    Pruner(database, Places(()), purge).run(NOW)
    room.require(1000)


def test_a_folder_that_two_sessions_show_is_stored_once(database: Database) -> None:
    run = runs.create_run(database, "r", runs.RunChanges(run_set="g"), creator="me", now=NOW)
    keep(database, "one", 700, folder="/p/shared")
    keep(database, "same", 700, folder="/p/shared/")
    keep(database, "other", 50)
    listed = search_runs(database, RunQuery()).runs
    assert [(one.sessions, one.bytes) for one in listed] == [(3, 750)]
    assert storage_of_runs(database, [run.uid]) == {run.uid: 750}
    assert groups.get_group(database, "g").usage == groups.Usage(1, 3, 750)
    (large,) = groups.largest_runs(database, 5)
    assert large.usage == groups.Usage(1, 3, 750)
    # As long as one of them shows it, it is there.
    deleting.delete_session(database, "r", "one", etag=None, now=NOW)
    assert storage_of_runs(database, [run.uid]) == {run.uid: 750}
    deleting.delete_session(database, "r", "same", etag=None, now=NOW)
    assert groups.get_group(database, "g").usage == groups.Usage(1, 1, 50)


def keep(database: Database, session: str, size: int, folder: str = "", **values: object) -> str:
    """Attaches a session of run `r` of which the size is known; its identity."""
    places = (folder or f"/p/{session}",)
    new = sessions.NewSession(session, places, session, **values)  # type: ignore[arg-type]
    uid = sessions.create_session(database, "r", new, creator="me", now=NOW).uid
    summary = SessionSummary("digest", (HostSize("h", size),), size, None, NOW)
    assert keep_summary(database, uid, summary)
    return uid


def refusal(room: UploadRoom, size: int) -> str:
    with pytest.raises(LoaderError) as failure:
        room.require(size)
    assert failure.value.code is ErrorCode.STORAGE_FULL
    return failure.value.message
