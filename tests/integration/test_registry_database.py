"""The database itself: migrations, several processes at once, transactions."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text

from server.registry import runs
from server.registry.database import Database
from server.registry.metadata import METADATA

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MIGRATE = (
    "import sys; from server.registry.database import Database; Database(sys.argv[1]).migrate()"
)


def test_the_migrations_make_the_tables_of_the_models(
    database: Database, registry_url: str
) -> None:
    engine = create_engine(registry_url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_migrating_again_changes_nothing(database: Database) -> None:
    runs.create_run(database, "kept", runs.RunChanges(), creator="me", now=NOW)
    database.migrate()
    assert runs.get_run(database, "kept").id == "kept"


def test_several_processes_may_migrate_a_new_database_at_once(registry_url: str) -> None:
    starting = [
        subprocess.Popen([sys.executable, "-c", MIGRATE, registry_url], stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for process in starting:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors.decode()
    database = Database(registry_url)
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    database.close()


def test_a_failed_block_leaves_nothing_behind(database: Database) -> None:
    with pytest.raises(ZeroDivisionError), database.writing() as session:
        session.execute(
            text(
                "INSERT INTO api_tokens (id, token_hash, name, role, created, creator)"
                " VALUES ('t', 'h', 'n', 'viewer', '2026-03-01 12:00:00.000000', 'c')"
            )
        )
        raise ZeroDivisionError
    with database.reading() as session:
        assert session.scalar(text("SELECT count(*) FROM api_tokens")) == 0


def test_writers_wait_for_each_other(database: Database) -> None:
    """Reading and then writing in one transaction must not fail because another one did so too."""
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    failures: list[BaseException] = []

    def change(number: int) -> None:
        try:
            for _ in range(10):
                changes = runs.RunChanges(display_name=str(number))
                runs.update_run(database, "r", changes, etag=None, now=NOW)
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            failures.append(error)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert runs.get_run(database, "r").version == 41


def test_sqlite_keeps_readers_and_a_writer_apart(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new folder' / 'r.sqlite'}")
    database.migrate()
    with database.reading() as reader:
        assert reader.scalar(text("SELECT count(*) FROM runs")) == 0
        runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
        assert reader.scalar(text("PRAGMA journal_mode")) == "wal"
        assert reader.scalar(text("PRAGMA foreign_keys")) == 1
    database.close()


@pytest.mark.parametrize("url", ["mysql://h/d", "sqlite://", "sqlite:///:memory:", "nonsense", ""])
def test_other_databases_are_refused_by_name(url: str) -> None:
    with pytest.raises(ValueError, match="XPROF_HUB_DATABASE_URL"):
        Database(url)


def test_a_moment_without_zone_is_refused(database: Database) -> None:
    with pytest.raises(Exception, match="time zone"):
        runs.create_run(database, "r", runs.RunChanges(), creator="me", now=datetime(2026, 3, 1))
