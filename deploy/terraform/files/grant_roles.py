"""Makes the database role that owns the hub's tables, and lets the parts act as it; may run again.

A job runs it before the first front end starts, because users that sign in by IAM may do nothing at first,
and Cloud SQL has no API that changes that. The environment tells it everything: PGHOST, PGUSER, PGPASSWORD,
PGDATABASE and PGSSLMODE as libpq reads them, ROLE, and MEMBERS, separated by commas.
"""

import os
import time

import psycopg
from psycopg import sql

PATIENCE_SECONDS, PAUSE_SECONDS = 240, 5


def connect() -> psycopg.Connection:
    """A connection to the database, asked for again and again.

    The rights that the proxy needs have just been given, and are known everywhere only after minutes.

    Raises:
        psycopg.OperationalError: the database can't be reached for `PATIENCE_SECONDS`.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return psycopg.connect(connect_timeout=10)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
        time.sleep(PAUSE_SECONDS)


def grant_roles(role: str, members: list[str]) -> None:
    """Makes the role, lets it make tables, and makes the users members of it."""
    with connect() as connection:
        known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
        name = sql.Identifier(role)
        if not known:
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(name))
        connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(name))
        for member in members:
            connection.execute(sql.SQL("GRANT {} TO {}").format(name, sql.Identifier(member)))


if __name__ == "__main__":
    grant_roles(os.environ["ROLE"], os.environ["MEMBERS"].split(","))
