"""A migration waits for tables that others use, without making others wait behind it (PostgreSQL)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

import server.registry.database as database_module
from server.registry.database import Database
from server.registry.errors import RegistryUnusableError
from server.registry.versions import Standing
from tests.migrating import upgrade
from tests.services.pair import until

WAITS = (
    "SELECT count(*) FROM pg_locks WHERE relation = 'runs'::regclass"
    " AND mode = 'AccessExclusiveLock' AND NOT granted"
)


@pytest.fixture
def before_people(postgres_url: str) -> Iterator[Database]:
    """A database of version 0007; 0008 adds columns to `runs`, for which it needs the table for itself."""
    upgrade(postgres_url, "0007")
    opened = Database(postgres_url)
    yield opened
    opened.close()


@contextmanager
def long_reader(url: str) -> Iterator[psycopg.Connection]:
    """A transaction that has read `runs` and does not end, as a dump's does; and a connection of another."""
    plain = url.replace("+psycopg", "")
    with psycopg.connect(plain) as holder, psycopg.connect(plain, autocommit=True) as other:
        holder.execute("SELECT count(*) FROM runs")
        yield other


def test_readers_go_on_while_a_migration_waits_for_a_long_transaction(
    before_people: Database, postgres_url: str
) -> None:
    migrating = threading.Thread(target=before_people.migrate)
    with long_reader(postgres_url) as reader:
        migrating.start()
        until(lambda: reader.execute(WAITS).fetchone() == (1,), 20)
        # It asks for the table right now, so this waits behind it, and would for as long as the holder lives.
        reader.execute("SET statement_timeout = '30s'")
        assert reader.execute("SELECT count(*) FROM runs").fetchone() == (0,)
        assert migrating.is_alive()
        assert before_people.version().found == "0007"
    migrating.join(60)
    assert before_people.version().standing is Standing.CURRENT


def test_one_that_never_ends_is_named_in_the_end(
    before_people: Database, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(database_module, "_TABLE_SECONDS", 0.1)
    with long_reader(postgres_url), pytest.raises(RegistryUnusableError, match="pg_stat_activity"):
        before_people.migrate()
    assert before_people.version().found == "0007"
    before_people.migrate()
    assert before_people.version().standing is Standing.CURRENT


def test_a_database_that_is_up_to_date_is_not_waited_for(postgres_url: str) -> None:
    """Front ends start while something else migrates, or holds every table."""
    database = Database(postgres_url)
    database.migrate()
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(%s)", (database_module._MIGRATION_LOCK,))
        holder.execute("LOCK TABLE runs, sessions, links IN ACCESS EXCLUSIVE MODE")
        database.make_ready(may_migrate=True)
    database.close()
