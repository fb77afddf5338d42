"""A PostgreSQL that stands still, as one whose machine has gone: nobody waits for it for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

import server.registry.database as database_module
import server.registry.postgres_connections as connections_module
from server.registry.database import Database
from tests.services.api import Api, api_settings, serve_api
from tests.services.postgres import PostgresServer

PING, STATEMENT = 0.3, 1.0
CONNECT = 2
"""The least that psycopg waits for a connection."""
SLOWLY = 30
"""Seconds that a busy machine may add: whoever waits for the frozen server itself waits for ever."""


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less patience than in earnest."""
    monkeypatch.setattr(connections_module, "_PING_SECONDS", PING)
    monkeypatch.setattr(connections_module, "_STATEMENT_SECONDS", STATEMENT)
    monkeypatch.setattr(database_module, "_CONNECT_SECONDS", CONNECT)


@pytest.fixture
def registry(postgres_url: str) -> Iterator[Database]:
    """A migrated database."""
    database = Database(postgres_url)
    database.migrate()
    yield database
    database.close()


@pytest.fixture
def api(tmp_path: Path, postgres_url: str) -> Iterator[Api]:
    """A front end on PostgreSQL that looks for nothing in the background."""
    settings = api_settings(tmp_path, database_url=postgres_url, scan_seconds=0)
    with serve_api(settings) as served:
        yield served


def test_a_statement_that_is_not_answered_ends(
    registry: Database, postgres_server: PostgresServer
) -> None:
    began = time.monotonic()
    with (
        pytest.raises(OperationalError, match="no answer in 1 seconds"),
        registry.reading() as session,
    ):
        session.execute(text("SELECT 1"))
        with postgres_server.standing_still():
            session.execute(text("SELECT 2"))
    assert STATEMENT <= time.monotonic() - began < STATEMENT + SLOWLY
    # What was the answer to the second question is not taken for that to the third.
    with registry.reading() as session:
        assert session.scalar(text("SELECT 3")) == 3


def test_each_request_is_told_soon_and_all_is_well_when_it_goes_on(
    api: Api, postgres_server: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    assert api.http.get("/machineLearningRuns").status_code == 200
    with postgres_server.standing_still():
        first = _seconds_until_refused(api)  # finds out that the idle connection is of no use
        assert PING + CONNECT <= first < PING + CONNECT + SLOWLY
        with ThreadPoolExecutor(4) as pool:
            waits = list(pool.map(lambda _: _seconds_until_refused(api), range(4)))
        assert min(waits) < CONNECT  # one tries, and others don't wait for it
    reasons = [line for line in caplog.messages if line.startswith("the registry's database")]
    assert "timeout" in reasons[0]
    assert any("asked last" in reason for reason in reasons)
    assert api.http.get("/machineLearningRuns").status_code == 200


def test_a_migration_waits_longer_than_a_request(postgres_url: str) -> None:
    dsn = postgres_url.replace("+psycopg", "")
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [database_module._MIGRATION_LOCK])
        database = Database(postgres_url)
        migrating = threading.Thread(target=database.migrate)
        migrating.start()
        migrating.join(2 * STATEMENT)
        assert migrating.is_alive()
    migrating.join(60)
    assert database.version().found == database.version().needed
    database.close()


def _seconds_until_refused(api: Api) -> float:
    began = time.monotonic()
    answer = api.http.get("/machineLearningRuns")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    return time.monotonic() - began
