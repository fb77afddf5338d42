"""The registry on both databases: a test that takes `database` or `registry_url` runs once on each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.registry.database import Database


@pytest.fixture(params=["sqlite", "postgresql"])
def registry_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'registry.sqlite'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def database(registry_url: str) -> Iterator[Database]:
    """A migrated database, once of each kind."""
    opened = Database(registry_url)
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    """A migrated SQLite, for tests in which the kind of database doesn't matter."""
    opened = Database(f"sqlite:///{tmp_path / 'registry.sqlite'}")
    opened.migrate()
    yield opened
    opened.close()
