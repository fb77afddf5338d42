"""A database that an earlier version made: its rows, and the links on them, live on after the upgrade."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from alembic import command
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from auth.links import RunTarget, SessionTarget, create_link
from server.registry import deleting, runs, session_changes, sessions
from server.registry.attempts import close_silent
from server.registry.database import Database
from server.registry.leases import take_lease
from server.registry.links import SqlLinkStore
from server.registry.looks import Look, LookKind, add_looks
from server.registry.operations import add_operation
from server.registry.records import RunState, SessionKind, SessionOrigin
from server.registry.registrations import register_attempt
from server.registry.requests import RepeatableRequest
from tests.attempts import list_attempts
from tests.migrating import opened

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FIRST_ROWS = (
    "INSERT INTO runs (id, uid, display_name, labels, run_set, configs, artifacts, creator, created,"
    " updated, version) VALUES ('r', 'uid-r', 'Run', '{}', '', '{}', '{}', 'me', NOW, NOW, 1)",
    "INSERT INTO sessions (key, run_key, id, uid, display_name, location, expected_hosts, creator, created,"
    " updated, version) VALUES (7, 1, 's', 'uid-s', 'S', 'gs://b/s', 4, 'me', NOW, NOW, 3)",
    "INSERT INTO links (id, token_hash, session_key, session_uid, run, session, created, opens, note,"
    " creator) VALUES ('l', 'hash', 7, 'uid-s', 'r', 's', NOW, 0, '', 'me')",
)
"""Rows as version 0001 wrote them."""


@pytest.fixture
def first_version(registry_url: str) -> str:
    """Tables of version 0001 with a session and a link in them."""
    with opened(registry_url) as (config, connection):
        command.upgrade(config, "0001")
        for row in FIRST_ROWS:
            connection.execute(text(row.replace("NOW", "'2026-03-01 12:00:00.000000'")))
    return registry_url


def fill(database: Database) -> None:
    """Adds what only later versions have, to the first version's rows and beside them."""
    changes = runs.RunChanges(display_name="Job", labels={"team": "perf"}, storage_root="/p")
    request = RepeatableRequest("me", "id-1", "f")
    for asked in (request, None):
        register_attempt(
            database, "job", lambda _run, _last: changes, {}, creator="me", now=NOW, request=asked
        )
    session_changes.change_session(
        database,
        "r",
        "s",
        lambda _old: session_changes.SessionChanges(targets={"h0": {}}, ended=NOW),
        etag=None,
        now=NOW,
    )
    create_link(
        SqlLinkStore(database),
        target=RunTarget("r", "uid-r"),
        creator="me",
        now=NOW,
        expires=None,
    )
    add_operation(database, parent="p", verb="create", target="t", now=NOW)
    add_looks(database, [Look(LookKind.RUN, "uid-r", "/p/r", NOW)])
    take_lease(database, "scan", "me", now=NOW, lasting=timedelta(minutes=1))


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
    deleting.delete_session(database, "r", "s", etag=None, now=NOW)
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


def test_a_process_of_the_version_before_jobs_can_still_add_and_change_runs(
    first_version: str,
) -> None:
    database = Database(first_version)
    database.migrate()
    with database.writing() as session:
        session.execute(
            text(
                "INSERT INTO runs (id, uid, display_name, labels, run_set, configs, artifacts, creator,"
                " created, updated, version) SELECT 'old', 'uid-old', 'Old', labels, '', configs, artifacts,"
                " 'me', created, updated, 1 FROM runs WHERE id = 'r'"
            )
        )
        session.execute(text("UPDATE runs SET display_name = 'Renamed' WHERE id = 'r'"))
    old = runs.get_run(database, "old")
    assert (old.state, old.ended, old.seen, old.parent) == (RunState.ACTIVE, None, None, "")
    assert (old.tools, old.workload, old.storage_root, old.warnings) == ((), {}, "", ())
    assert runs.get_run(database, "r").display_name == "Renamed"
    # Nobody knows of a job of it, so its age does not close it.
    later = NOW + timedelta(days=365)
    assert close_silent(database, later, now=later) == ()
    database.close()


def test_every_step_can_be_undone_with_rows_in_all_tables(first_version: str) -> None:
    database = Database(first_version)
    database.migrate()
    fill(database)
    database.close()
    with opened(first_version) as (config, connection):
        while MigrationContext.configure(connection).get_current_revision() != "0001":
            command.downgrade(config, "-1")
        command.upgrade(config, "head")
    database = Database(first_version)
    found = sessions.get_session(database, "r", "s")
    assert (found.uid, found.version, found.kind) == ("uid-s", 4, SessionKind.ATTACHED)
    assert SqlLinkStore(database).get_link("l").target == SessionTarget("r", "s", "uid-s")
    job = runs.get_run(database, "job")
    assert (job.display_name, job.labels, job.state) == ("Job", {"team": "perf"}, RunState.ACTIVE)
    # What only the later versions know is gone with them, and can be said anew.
    assert list_attempts(database, "job") == ()
    register_attempt(
        database, "job", lambda _run, _last: runs.RunChanges(), {}, creator="me", now=NOW
    )
    deleting.delete_session(database, "r", "s", etag=None, now=NOW)
    assert SqlLinkStore(database).get_link("l").revoked == NOW
    database.close()
