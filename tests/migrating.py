"""Migrations of the registry one by one, forward and back, which `Database.migrate` never goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, make_url


def open_engine(registry_url: str) -> Engine:
    """Connections to a registry's database that keep foreign keys."""
    url = make_url(registry_url)
    if url.get_backend_name() == "postgresql":
        return create_engine(url.set(drivername="postgresql+psycopg"))
    engine = create_engine(url)
    event.listen(engine, "connect", lambda raw, _: raw.execute("PRAGMA foreign_keys=ON"))
    return engine


@contextmanager
def opened(registry_url: str) -> Iterator[tuple[Config, Connection]]:
    """A transaction in which migrations can be run, forward and back."""
    config = Config()
    config.set_main_option("script_location", "server.registry:migrations")
    engine = open_engine(registry_url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        yield config, connection
    engine.dispose()


def upgrade(registry_url: str, revision: str) -> None:
    """Brings the tables up to a revision."""
    with opened(registry_url) as (config, _):
        command.upgrade(config, revision)


def downgrade(registry_url: str, revision: str) -> None:
    """Brings the tables back to a revision."""
    with opened(registry_url) as (config, _):
        command.downgrade(config, revision)
