"""A migration that says that versions before it can go on takes nothing away from them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection, create_engine, text

from tests.migrating import opened
from tests.schema_losses import losses, read_tables

FIRST = "0009"
"""The first version that asks the database whether it may go on."""


def later_scripts() -> list[Script]:
    """The migrations from the first that is bound to the rules, oldest first."""
    config = Config()
    config.set_main_option("script_location", "server.registry:migrations")
    scripts = [*ScriptDirectory.from_config(config).walk_revisions()][::-1]
    names = [script.revision for script in scripts]
    return scripts[names.index(FIRST) :]


def test_each_says_from_which_version_on_the_tables_can_be_used() -> None:
    known: list[str] = []
    for script in later_scripts():
        known.append(script.revision)
        said = script.module.usable_from
        assert said is None or said in known, f"{script.revision}: {said} is no version before it"


def test_none_that_only_adds_takes_anything_away(registry_url: str) -> None:
    scripts = later_scripts()
    with opened(registry_url) as (config, connection):
        command.upgrade(config, "0008")
        for script in scripts:
            before = read_tables(connection)
            command.upgrade(config, script.revision)
            found = losses(before, read_tables(connection))
            if script.module.usable_from in {None, FIRST}:
                assert found == [], f"{script.revision} takes away what versions before it need"


FIRST_TABLES = """
CREATE TABLE parents (key INTEGER PRIMARY KEY);
CREATE TABLE things (key INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER DEFAULT 0, parent INTEGER);
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """A database with two tables."""
    engine = create_engine(f"sqlite:///{tmp_path / 'tables.sqlite'}")
    with engine.begin() as opened_connection:
        run(opened_connection, FIRST_TABLES)
        yield opened_connection
    engine.dispose()


def run(connection: Connection, statements: str) -> None:
    for statement in filter(str.strip, statements.split(";\n")):
        connection.execute(text(statement))


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE TABLE more (key INTEGER PRIMARY KEY, must TEXT NOT NULL UNIQUE)",
        "ALTER TABLE things ADD COLUMN note TEXT",
        "ALTER TABLE things ADD COLUMN note TEXT NOT NULL DEFAULT ''",
        "CREATE INDEX by_name ON things (name)",
        "ALTER TABLE things ADD COLUMN owner INTEGER REFERENCES parents (key)",
    ],
)
def test_adding_is_no_loss(connection: Connection, statements: str) -> None:
    before = read_tables(connection)
    run(connection, statements)
    assert losses(before, read_tables(connection)) == []


def remade(columns: str) -> str:
    """The statements that make `things` anew with other columns, as Alembic does it on SQLite."""
    return f"DROP TABLE things;\nCREATE TABLE things ({columns});\n"


@pytest.mark.parametrize(
    ("statements", "loss"),
    [
        ("DROP TABLE things", "things is gone"),
        ("ALTER TABLE things RENAME TO items", "things is gone"),
        ("ALTER TABLE things DROP COLUMN size", "things.size is gone"),
        ("ALTER TABLE things RENAME COLUMN size TO bytes", "things.size is gone"),
        ("CREATE UNIQUE INDEX once ON things (name)", "things has a new unique ['name']"),
        (
            "ALTER TABLE things ADD COLUMN mark TEXT DEFAULT '';\nCREATE UNIQUE INDEX once ON things (mark)",
            "things has a new unique ['mark']",
        ),
        (
            "CREATE TRIGGER stay BEFORE UPDATE ON things BEGIN SELECT RAISE(ABORT, 'no'); END",
            "things has a new trigger stay",
        ),
        (
            remade(
                "key INTEGER PRIMARY KEY, name TEXT NOT NULL, size TEXT DEFAULT 0, parent INTEGER"
            ),
            "things.size has another type",
        ),
        (
            remade("key INTEGER PRIMARY KEY, name TEXT, size INTEGER DEFAULT 0, parent INTEGER"),
            "things.name may be null, or not any more",
        ),
        (
            remade("key INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER, parent INTEGER"),
            "things.size has no default any more",
        ),
        (
            remade(
                "key INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER DEFAULT 0, parent INTEGER,"
                " must TEXT NOT NULL"
            ),
            "things.must has to be filled",
        ),
        (
            remade(
                "key INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER DEFAULT 0,"
                " parent INTEGER REFERENCES parents (key)"
            ),
            "things has a new foreign key ['parent'] parents {}",
        ),
        (
            remade(
                "key INTEGER PRIMARY KEY, name TEXT NOT NULL, size INTEGER DEFAULT 0, parent INTEGER,"
                " CONSTRAINT few CHECK (size < 9)"
            ),
            "things has a new check size < 9",
        ),
    ],
)
def test_each_loss_is_seen(connection: Connection, statements: str, loss: str) -> None:
    before = read_tables(connection)
    run(connection, statements)
    assert loss in losses(before, read_tables(connection))
