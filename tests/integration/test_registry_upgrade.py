"""A database that an earlier version made: its rows, and the links on them, live on after the upgrade."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event, make_url, text

from auth.links import RunTarget, SessionTarget, create_link
from server.registry import sessions
from server.registry.database import Database
from server.registry.links import SqlLinkStore
from server.registry.records import SessionOrigin

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FIRST_ROWS = (
    "INSERT INTO runs (key, id, uid, display_name, labels, run_set, configs, artifacts, creator, created,"
    " updated, version) VALUES (1, 'r', 'uid-r', 'Run', '{}', '', '{}', '{}', 'me', NOW, NOW, 1)",
    "INSERT INTO sessions (key, run_key, id, uid, display_name, location, expected_hosts, creator, created,"
    " updated, version) VALUES (7, 1, 's', 'uid-s', 'S', 'gs://b/s', 4, 'me', NOW, NOW, 3)",
    "INSERT INTO links (id, token_hash, session_key, session_uid, run, session, created, opens, note,"
    " creator) VALUES ('l', 'hash', 7, 'uid-s', 'r', 's', NOW, 0, '', 'me')",
)
"""Rows as version 0001 wrote them."""


def open_engine(registry_url: str) -> Engine:
    url = make_url(registry_url)
    if url.get_backend_name() == "postgresql":
        return create_engine(url.set(drivername="postgresql+psycopg"))
    engine = create_engine(url)
    event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA foreign_keys=ON"))
    return engine


@pytest.fixture
def first_version(registry_url: str) -> str:
    """Tables of version 0001 with a session and a link in them."""
    config = Config()
    config.set_main_option("script_location", "server.registry:migrations")
    engine = open_engine(registry_url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for row in FIRST_ROWS:
            connection.execute(text(row.replace("NOW", "'2026-03-01 12:00:00.000000'")))
    engine.dispose()
    return registry_url


def test_rows_of_the_first_version_live_on(first_version: str) -> None:
    database = Database(first_version)
    database.migrate()
    found = sessions.get_session(database, "r", "s")
    assert (found.uid, found.locations, found.expected_hosts, found.version) == (
        "uid-s",
        ("gs://b/s",),
        4,
        3,
    )
    assert (found.merged_from, found.prewarm) == ((), "")
    link = SqlLinkStore(database).get_link("l")
    assert link.target == SessionTarget("r", "s", "uid-s")
    assert (link.view, link.revoked) == ({}, None)
    new = sessions.NewSession(
        "m", ("gs://b/s", "gs://b/t"), "m", merged_from=(SessionOrigin("s", "uid-s"),)
    )
    made = sessions.create_session(database, "r", new, creator="me", now=NOW)
    assert sessions.get_session(database, "r", "m") == made
    assert made.locations == ("gs://b/s", "gs://b/t")
    assert made.merged_from == (SessionOrigin("s", "uid-s"),)
    database.close()


def test_the_link_still_belongs_to_its_session(first_version: str) -> None:
    """Making the table anew would have taken it off: then deleting the session would not end it."""
    database = Database(first_version)
    database.migrate()
    sessions.delete_session(database, "r", "s", etag=None, now=NOW)
    assert SqlLinkStore(database).get_link("l").revoked == NOW
    database.close()


def test_a_process_of_the_first_version_can_still_add_rows(first_version: str) -> None:
    database = Database(first_version)
    database.migrate()
    with database.writing() as session:
        session.execute(
            text(
                "INSERT INTO sessions (run_key, id, uid, display_name, location, creator, created, updated,"
                " version) SELECT run_key, 'old', 'uid-old', '', '/old', 'me', created, created, 1"
                " FROM sessions WHERE id = 's'"
            )
        )
    assert sessions.get_session(database, "r", "old").locations == ("/old",)
    database.close()


def test_a_process_of_the_version_before_takes_a_link_to_a_run_for_a_lost_one(
    first_version: str,
) -> None:
    """It reads `session_key`, and a link without one opens nothing; what it adds has defaults."""
    database = Database(first_version)
    database.migrate()
    store = SqlLinkStore(database)
    link, _ = create_link(
        store, target=RunTarget("r", "uid-r"), creator="me", now=NOW, expires=None
    )
    with database.writing() as session:
        query = text("SELECT session_key, session_uid, session FROM links WHERE id = :id")
        assert session.execute(query, {"id": link.id}).one() == (None, "", "")
        session.execute(
            text(
                "INSERT INTO links (id, token_hash, session_key, session_uid, run, session, created, opens,"
                " note, creator) SELECT 'old', 'old hash', session_key, session_uid, run, session, created,"
                " 0, '', 'me' FROM links WHERE id = 'l'"
            )
        )
    old = store.get_link("old")
    assert (old.target, old.view, old.revoked) == (SessionTarget("r", "s", "uid-s"), {}, None)
    database.close()
