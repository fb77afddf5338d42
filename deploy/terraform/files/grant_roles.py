"""Makes the database role that owns the hub's tables, and lets the parts act as it; may run again.

A job runs it before the first front end starts, because users that sign in by IAM may do nothing at first,
and Cloud SQL has no API that changes that. The environment tells it everything: PGHOST, PGUSER, PGPASSWORD,
PGDATABASE and PGSSLMODE as libpq reads them, ROLE, and MEMBERS, separated by commas.
"""

import os

import psycopg
from psycopg import sql


def grant_roles(role: str, members: list[str]) -> None:
    """Makes the role, lets it make tables, and makes the users members of it."""
    with psycopg.connect() as connection:
        known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
        name = sql.Identifier(role)
        if not known:
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(name))
        connection.execute(sql.SQL("GRANT USAGE, CREATE ON SCHEMA public TO {}").format(name))
        for member in members:
            connection.execute(sql.SQL("GRANT {} TO {}").format(name, sql.Identifier(member)))


if __name__ == "__main__":
    grant_roles(os.environ["ROLE"], os.environ["MEMBERS"].split(","))
