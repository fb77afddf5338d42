"""Which version a database's tables have, and whether this XProf Hub may work on them.

While an installation is upgraded or rolled back, two versions of XProf Hub work on one database. So each
migration from 0009 on says in `usable_from` whether versions before it can go on, and the answer is kept in
the database, where a version that has never heard of that migration finds it. Nothing here takes locks,
begins a transaction or decides when to migrate: that is `server.registry.database`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Connection, Table, inspect, select

from server.registry.base import Base, ByteText

USABLE_FROM = Table("usable_from", Base.metadata, Column("revision", ByteText, primary_key=True))
"""One row: the oldest revision whose code may work on these tables."""


class Standing(StrEnum):
    """How a database's tables stand to what this XProf Hub needs."""

    CURRENT = "current"
    BEHIND = "behind"
    AHEAD = "ahead"
    """A newer version has changed them, and says that this one can go on."""
    TOO_NEW = "too_new"
    """A newer version has changed them, and doesn't say so."""


@dataclass(frozen=True)
class DatabaseVersion:
    """What was found in a database.

    Attributes:
        found: revision of its tables; None: there are none yet.
        needed: revision that this XProf Hub was written for.
        standing: what that comes to.
    """

    found: str | None
    needed: str
    standing: Standing

    @property
    def is_usable(self) -> bool:
        """Whether this XProf Hub can work on the tables as they are."""
        return self.standing in {Standing.CURRENT, Standing.AHEAD}


def version_of_nothing() -> DatabaseVersion:
    """What is said of a database that isn't there yet."""
    return DatabaseVersion(None, _newest(_scripts()), Standing.BEHIND)


def read_version(connection: Connection) -> DatabaseVersion:
    """Looks into a database; changes nothing."""
    scripts = _scripts()
    found = MigrationContext.configure(connection).get_current_revision()
    needed = _newest(scripts)
    if found == needed:
        return DatabaseVersion(found, needed, Standing.CURRENT)
    known = {script.revision for script in scripts.walk_revisions()}
    if found is None or found in known:
        return DatabaseVersion(found, needed, Standing.BEHIND)
    may_go_on = _written_usable_from(connection) in known
    return DatabaseVersion(found, needed, Standing.AHEAD if may_go_on else Standing.TOO_NEW)


def upgrade(connection: Connection, target: str) -> None:
    """Runs migrations in the transaction of a connection.

    Args:
        connection: in a transaction that its owner commits.
        target: `head`, or `+1` for the next one only.
    """
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, target)


def write_usable_from(connection: Connection, revision: str) -> None:
    """Notes which versions may work on the tables, which have just been brought to a revision.

    That is what the migration itself says, or the last one before it that says anything: those between only
    add. Versions before 0009 know no such note, and refuse whatever they don't know.
    """
    for script in _scripts().iterate_revisions(revision, "base"):
        usable_from = getattr(script.module, "usable_from", None)
        if usable_from is not None:
            connection.execute(USABLE_FROM.delete())
            connection.execute(USABLE_FROM.insert().values(revision=usable_from))
            return


def _written_usable_from(connection: Connection) -> str | None:
    if not inspect(connection).has_table(USABLE_FROM.name):
        return None
    return connection.scalar(select(USABLE_FROM.c.revision))


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "server.registry:migrations")
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _newest(scripts: ScriptDirectory) -> str:
    newest = scripts.get_current_head()
    assert newest is not None  # noqa: S101 - the migrations are part of this package
    return newest
