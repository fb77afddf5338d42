"""`xprof-hub prune` as it is run: with buckets, with another one at work, and killed in the middle."""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import update

from loader.caches.gcs_artifacts import GcsArtifacts
from loader.keys import session_mark
from server.commands.prune import run_prune
from server.lifecycle.opening import LEASE
from server.registry import deleting, runs, sessions
from server.registry.database import Database
from server.registry.leases import take_lease
from server.registry.models import LeaseRow
from server.registry.purging import list_leftovers
from server.settings import Settings
from tests.services.gcs import GcsEmulator
from tests.services.processes import Process

LONG_AGO = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def bucket(gcs_emulator: GcsEmulator, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"prune-{uuid4().hex[:8]}"
    gcs_emulator.create_bucket(name)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", gcs_emulator.url)
    return name


def settings_of(folder: Path, bucket: str) -> dict[str, str]:
    return {
        "data_dir": str(folder / "data"),
        "database_url": f"sqlite:///{folder / 'registry.sqlite'}",
        "storage_roots": f"gs://{bucket}/runs",
        "cache_root": f"gs://{bucket}/cache",
        "delete_profiles": "true",
    }


def prune(
    values: dict[str, str], capsys: pytest.CaptureFixture[str], *, is_dry: bool = False
) -> tuple[int, dict[str, Any], str]:
    """Exit status, what it prints as JSON, and what it says."""
    settings = Settings.model_validate(values)
    status = run_prune(settings, is_dry=is_dry, as_json=True, every_hours=0)
    said = capsys.readouterr()
    return status, json.loads(said.out or "{}"), said.err


def test_a_pruning_that_was_killed_is_finished_by_the_next_one(
    sqlite_database: Database,
    gcs_emulator: GcsEmulator,
    bucket: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database = sqlite_database
    artifacts = GcsArtifacts(gcs_emulator.client(), f"gs://{bucket}/cache")
    made = tmp_path / "made"
    made.write_bytes(b"made")
    keys = {}
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=LONG_AGO)
    for name in ("gone", "kept"):
        for file in ("a.xplane.pb", "notes.txt"):
            gcs_emulator.upload(bucket, f"runs/r/{name}/{file}", b"x")
        place = f"gs://{bucket}/runs/r/{name}"
        new = sessions.NewSession(name, (place,), name)
        sessions.create_session(database, "r", new, creator="me", now=LONG_AGO)
        keys[name] = session_mark((place,)) + "0" * 48
        artifacts.publish(keys[name], [made], ["a"], [])
    deleting.delete_session(database, "r", "gone", etag=None, now=LONG_AGO)
    values = settings_of(tmp_path, bucket)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = {**os.environ, **{f"XPROF_HUB_{key.upper()}": text for key, text in values.items()}}
        env["STORAGE_EMULATOR_HOST"] = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-m", "server.cli", "prune"]
        pruning = Process.start("prune", command, tmp_path / "log", env)
        try:
            # By now it waits for a bucket that takes the connection and says nothing.
            pruning.wait_for(lambda: bool(list_leftovers(database, 0, 1)))
        finally:
            pruning.kill()
    uid = runs.get_run(database, "r").uid
    assert [one.id for one in sessions.newest_sessions(database, uid, 9)] == ["kept"]

    status, report, said = prune(values, capsys)
    assert (status, report) == (0, {})
    assert "Another process" in said
    # What was killed gives nothing back; two minutes later its time is over.
    with database.writing() as session:
        session.execute(update(LeaseRow).values(until=LONG_AGO))

    status, report, _ = prune(values, capsys)
    assert (status, report["leftovers"], report["profiles"], report["problems"]) == (0, 1, 1, [])
    names = {blob.name for blob in gcs_emulator.client().list_blobs(bucket, prefix="runs/")}
    assert names == {"runs/r/gone/notes.txt", "runs/r/kept/a.xplane.pb", "runs/r/kept/notes.txt"}
    assert [artifacts.contains(keys[name]) for name in ("gone", "kept")] == [False, True]
    assert list_leftovers(database, 0, 1) == ()
    lasting = timedelta(minutes=1)
    assert take_lease(database, LEASE, "me", now=datetime.now(UTC), lasting=lasting)


def test_a_bucket_that_is_gone_is_a_failure_that_says_so(
    sqlite_database: Database, bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs.create_run(sqlite_database, "r", runs.RunChanges(), creator="me", now=LONG_AGO)
    new = sessions.NewSession("s", (f"gs://{bucket}/runs/s",), "s")
    sessions.create_session(sqlite_database, "r", new, creator="me", now=LONG_AGO)
    deleting.delete_run(sqlite_database, "r", etag=None, now=LONG_AGO)
    values = {**settings_of(tmp_path, bucket), "cache_root": "gs://no-such-bucket/cache"}
    assert prune(values, capsys, is_dry=True)[1]["runs"] == 1
    status, report, _ = prune(values, capsys)
    assert (status, report["runs"], report["leftovers"]) == (1, 1, 0)
    assert "no-such-bucket" in str(report["problems"])
    assert len(list_leftovers(sqlite_database, 0, 2)) == 1
