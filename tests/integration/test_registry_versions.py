"""An XProf Hub that finds the tables of another version: it goes on, says what to do, or refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from server.registry import runs
from server.registry.database import Database
from server.registry.errors import DatabaseUnreachableError, RegistryUnusableError
from server.registry.versions import Standing, version_of_nothing
from tests.migrating import downgrade, upgrade

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NEEDED = version_of_nothing().needed


@pytest.fixture
def unmade(registry_url: str) -> Iterator[Database]:
    """A database without tables, once of each kind."""
    opened = Database(registry_url)
    yield opened
    opened.close()


def pretend(database: Database, revision: str, usable_from: str | None) -> None:
    """Leaves a database as a newer version would that has changed nothing else."""
    with database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
        session.execute(text("DELETE FROM usable_from"))
        if usable_from is not None:
            session.execute(text("INSERT INTO usable_from VALUES (:r)"), {"r": usable_from})


def revision_in(database: Database) -> str:
    with database.reading() as session:
        return str(session.scalar(text("SELECT version_num FROM alembic_version")))


def usable_from(database: Database) -> list[str]:
    with database.reading() as session:
        return list(session.scalars(text("SELECT revision FROM usable_from")))


def test_a_new_database_says_from_which_version_on_it_can_be_used(database: Database) -> None:
    """0009 is the first version that asks."""
    assert usable_from(database) == ["0009"]
    assert database.version().standing is Standing.CURRENT


def test_migrating_says_what_was_found(unmade: Database, registry_url: str) -> None:
    assert (unmade.version().found, unmade.version().standing) == (None, Standing.BEHIND)
    upgrade(registry_url, "0008")
    assert (unmade.version().found, unmade.version().standing) == ("0008", Standing.BEHIND)
    assert unmade.migrate().found == "0008"
    assert (unmade.migrate().found, revision_in(unmade)) == (NEEDED, NEEDED)


def test_what_a_newer_version_says_may_go_on_goes_on(database: Database) -> None:
    pretend(database, "9999", usable_from=NEEDED)
    for may_migrate in (True, False):
        database.make_ready(may_migrate=may_migrate)
    runs.create_run(database, "r", runs.RunChanges(), creator="me", now=NOW)
    assert runs.get_run(database, "r").id == "r"
    assert (database.version().standing, revision_in(database)) == (Standing.AHEAD, "9999")
    # The newer version's note stays, too: others of its kind start by it.
    assert usable_from(database) == [NEEDED]


@pytest.mark.parametrize("said", ["9998", None])
@pytest.mark.parametrize("may_migrate", [True, False])
def test_any_other_newer_database_is_refused_in_words(
    database: Database, said: str | None, may_migrate: bool
) -> None:
    pretend(database, "9999", usable_from=said)
    with pytest.raises(RegistryUnusableError, match=r"newer XProf Hub.*9999.*needs 00"):
        database.make_ready(may_migrate=may_migrate)
    assert revision_in(database) == "9999"


def test_one_that_may_not_migrate_says_who_has_to(unmade: Database, registry_url: str) -> None:
    upgrade(registry_url, "0008")
    with pytest.raises(RegistryUnusableError, match=r"at version 0008.*`xprof-hub migrate`"):
        unmade.make_ready(may_migrate=False)
    assert revision_in(unmade) == "0008"
    unmade.make_ready(may_migrate=True)
    unmade.make_ready(may_migrate=False)


def test_going_back_takes_the_note_along(database: Database, registry_url: str) -> None:
    downgrade(registry_url, "0008")
    with database.reading() as session:
        assert not inspect(session.connection()).has_table("usable_from")
    database.migrate()
    assert usable_from(database) == ["0009"]


def test_looking_makes_no_file(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new' / 'registry.sqlite'}")
    assert database.version() == version_of_nothing()
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_does_not_answer_is_told_apart() -> None:
    database = Database("postgresql://nobody:secret@127.0.0.1:1/none")
    for ask in (database.version, database.migrate):
        with pytest.raises(DatabaseUnreachableError) as caught:
            ask()
        assert "secret" not in str(caught.value)
