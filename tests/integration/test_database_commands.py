"""`xprof-hub migrate` and `xprof-hub backup`, run as an administrator runs them."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

import server.registry.database as database_module
from server.commands.database import run_backup, run_migrate
from server.commands.exits import ExitStatus
from server.registry.backup import copy_sqlite, dump_command
from server.registry.database import Database
from server.registry.versions import version_of_nothing
from server.settings import Settings
from tests.migrating import upgrade
from tests.services.pair import until

NEEDED = version_of_nothing().needed


def settings_of(url: str, **more: object) -> Settings:
    return Settings.model_validate({"database_url": url, **more})


def migrate(url: str, *, is_check: bool = False) -> int:
    return run_migrate(settings_of(url), is_check=is_check, as_json=True)


def test_a_check_changes_nothing_and_says_what_would_be(
    registry_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    upgrade(registry_url, "0008")
    for is_check, status, printed in [
        (True, 1, {"from": "0008", "to": NEEDED, "upToDate": False}),
        (False, 0, {"from": "0008", "to": NEEDED, "upToDate": True}),
        (True, 0, {"from": NEEDED, "to": NEEDED, "upToDate": True}),
        (False, 0, {"from": NEEDED, "to": NEEDED, "upToDate": True}),
    ]:
        assert migrate(registry_url, is_check=is_check) == status
        assert json.loads(capsys.readouterr().out) == printed


def test_an_older_version_can_be_asked_whether_it_may_come_back(
    database: Database, registry_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert migrate(registry_url, is_check=True) == ExitStatus.DONE
    assert json.loads(capsys.readouterr().out) == {"from": "9999", "to": "9999", "upToDate": True}
    with database.writing() as session:
        session.execute(text("UPDATE usable_from SET revision = '9998'"))
    assert migrate(registry_url, is_check=True) == ExitStatus.FAILED
    assert json.loads(capsys.readouterr().out)["upToDate"] is False
    assert migrate(registry_url) == ExitStatus.FAILED
    assert "newer XProf Hub" in capsys.readouterr().err


def test_it_waits_for_another_that_migrates(postgres_url: str) -> None:
    statuses: list[int] = []
    waiting = threading.Thread(target=lambda: statuses.append(migrate(postgres_url)))
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", (database_module._MIGRATION_LOCK,))
        waiting.start()
        asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        until(lambda: other.execute(asked).fetchone() == (1,), 20)
        assert statuses == []
    waiting.join(60)
    assert statuses == [ExitStatus.DONE]


def test_one_that_does_not_answer_is_told_from_one_that_is_behind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert migrate("postgresql://u:secret@127.0.0.1:1/d", is_check=True) == ExitStatus.UNREACHABLE
    assert "secret" not in capsys.readouterr().err


def test_production_has_no_database_of_its_own_on_a_jobs_disk(tmp_path: Path) -> None:
    settings = settings_of("", data_dir=tmp_path / "data", environment="production")
    assert run_migrate(settings, is_check=False, as_json=False) == ExitStatus.USAGE
    assert list(tmp_path.iterdir()) == []


def test_the_program_ends_with_that_status(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).parent / "xprof-hub"), "migrate", "--check", "--json"]
    env = {"PATH": os.environ["PATH"], "XPROF_HUB_DATA_DIR": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == ExitStatus.FAILED, done.stderr
    assert json.loads(done.stdout) == {"from": None, "to": NEEDED, "upToDate": False}
    assert list(tmp_path.iterdir()) == []


def test_a_copy_overwrites_nothing_and_is_its_owners(
    sqlite_database: Database, tmp_path: Path
) -> None:
    settings = settings_of(f"sqlite:///{tmp_path / 'registry.sqlite'}")
    target = tmp_path / "copy.sqlite"
    assert run_backup(settings, target, as_json=False) == ExitStatus.DONE
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    before = target.read_bytes()
    assert run_backup(settings, target, as_json=False) == ExitStatus.CONFLICT
    assert target.read_bytes() == before
    assert run_backup(settings, tmp_path / "none" / "copy", as_json=False) == ExitStatus.FAILED
    assert not list(tmp_path.glob(".backup-*"))


def test_without_a_database_there_is_no_copy(tmp_path: Path) -> None:
    settings = settings_of(f"sqlite:///{tmp_path / 'none.sqlite'}")
    assert run_backup(settings, tmp_path / "copy", as_json=False) == ExitStatus.FAILED
    assert list(tmp_path.iterdir()) == []


def test_a_copy_holds_whole_transactions_while_others_write(
    sqlite_database: Database, tmp_path: Path
) -> None:
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        while not stop.is_set():
            number = len(written)
            with sqlite_database.writing() as session:
                for half in ("a", "b"):
                    session.execute(
                        text("INSERT INTO leases VALUES (:n, :h, '2026-03-01 12:00:00.000000')"),
                        {"n": f"{half}{number}", "h": "x" * 2000},
                    )
            written.append(number)

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for copy in range(5):
            until(lambda seen=len(written): len(written) > seen + 20, 30)  # type: ignore[misc]
            target = tmp_path / f"copy{copy}"
            before = len(written)
            copy_sqlite(tmp_path / "registry.sqlite", target)
            with closing(sqlite3.connect(target)) as connection:
                names = {row[0] for row in connection.execute("SELECT name FROM leases")}
            numbers = {int(name[1:]) for name in names}
            assert names == {f"{half}{number}" for number in numbers for half in "ab"}
            assert numbers == set(range(len(numbers)))
            assert len(numbers) >= before
    finally:
        stop.set()
        writing.join()


def test_for_postgresql_the_command_is_named_without_the_password(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    url = (
        "postgresql+psycopg://ann:secret@db:5433/hub?options=-crole%3Downer"
        "&password=another-secret&sslpassword=secret-too"
    )
    assert run_backup(settings_of(url), tmp_path / "hub.dump", as_json=False) == ExitStatus.FAILED
    printed = capsys.readouterr()
    assert printed.out == dump_command(url, tmp_path / "hub.dump") + "\n"
    assert "'--dbname=postgresql://ann@db:5433/hub?options=-crole%3Downer'" in printed.out
    assert "secret" not in printed.out + printed.err
