"""A front end takes no more connections to PostgreSQL than it may, and says so when they are all in use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

import server.registry.database as database_module
from tests.services.api import Api, api_settings, serve_api


@pytest.fixture
def narrow(tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    """A front end with two connections, which waits a moment for a third."""
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 1)
    settings = api_settings(tmp_path, database_url=postgres_url, database_connections=2)
    with serve_api(settings) as api:
        yield api


def test_no_more_connections_are_taken_than_are_allowed(narrow: Api) -> None:
    database = narrow.services.database
    with database.reading() as one, database.reading() as two:
        for session in (one, two):
            session.execute(text("SELECT 1"))
        refused = narrow.http.get("/machineLearningRuns")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        error = refused.json()["error"]
        assert error["status"] == "UNAVAILABLE"
        assert "connections" in error["message"]
        asked = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        assert one.scalar(asked) == 2
    assert narrow.http.get("/machineLearningRuns").status_code == 200
