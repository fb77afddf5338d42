"""Addresses that deploy/terraform makes work with the hub's own parts: the database, Redis through TLS."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator

import psycopg
import pytest
import redis
import sqlalchemy as sa
from sqlalchemy import make_url

from loader.caches.redis_results import connect
from server.registry.database import Database
from server.registry.errors import RegistryUnusableError
from tests.services.terraform import MODULE

SCRIPT_FILE = MODULE / "files" / "grant_roles.py"
SCRIPT = SCRIPT_FILE.read_text()
FRONT, JOBS = "hub-front@example.iam", "hub-jobs@example.iam"
ADDRESS = re.compile(r'"postgresql\+psycopg://\$\{urlencode\(user\)\}@127\.0\.0\.1:5432/(\S+)"')


def address_of(user: str, database: str) -> str:
    """The address that a part gets, of this test's server: what follows the host is the module's own text."""
    found = ADDRESS.search((MODULE / "database.tf").read_text())
    assert found is not None
    query = found[1].replace("${local.database_role}", "hub_tables").partition("?")[2]
    here = make_url(database)
    encoded = user.replace("@", "%40")
    return f"postgresql+psycopg://{encoded}@{here.host}:{here.port}/{here.database}?{query}"


def told_to_setup(database: str) -> dict[str, str]:
    """The setup job's environment."""
    here = make_url(database)
    return {
        "PGHOST": str(here.host),
        "PGPORT": str(here.port),
        "PGUSER": str(here.username),
        "PGDATABASE": str(here.database),
        "ROLE": "hub_tables",
        "MEMBERS": f"{FRONT},{JOBS}",
    }


def run_setup(database: str, **others: str) -> None:
    """What the setup job does, as it does it: the text as an argument, everything else in the environment."""
    told = told_to_setup(database) | others
    subprocess.run([sys.executable, "-c", SCRIPT], env={**os.environ, **told}, check=True)


@pytest.fixture
def users(postgres_url: str) -> Iterator[None]:
    """Two users who may do nothing, as Cloud SQL makes them."""
    plain = postgres_url.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        for user in (FRONT, JOBS):
            connection.execute(f'CREATE ROLE "{user}" LOGIN')
        yield
        connection.execute("DROP OWNED BY hub_tables")
        for role in (FRONT, JOBS, "hub_tables"):
            connection.execute(f'DROP ROLE "{role}"')


def test_front_ends_and_jobs_act_as_the_role_that_owns_the_tables(
    postgres_url: str, users: None
) -> None:
    with pytest.raises(RegistryUnusableError, match="hub_tables"):
        Database(address_of(JOBS, postgres_url)).migrate()

    run_setup(postgres_url)
    run_setup(postgres_url)  # terraform runs it again when its members change

    Database(address_of(JOBS, postgres_url)).migrate()
    Database(address_of(FRONT, postgres_url)).make_ready(may_migrate=False)

    engine = sa.create_engine(address_of(FRONT, postgres_url))
    with engine.begin() as connection:
        asked = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
        assert connection.scalars(sa.text(asked)).all() == ["hub_tables"]
        assert connection.scalar(sa.text("SELECT session_user")) == FRONT
        connection.execute(sa.text("DELETE FROM runs"))
    engine.dispose()


@pytest.fixture
def cloud_database(postgres_url: str, users: None) -> Iterator[str]:
    """Name of a database as Cloud SQL makes it: of a role that is no superuser; `cloud_admin` is in it."""
    plain = postgres_url.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("CREATE ROLE cloud_owner CREATEROLE CREATEDB")
        connection.execute("CREATE ROLE cloud_admin LOGIN CREATEROLE CREATEDB IN ROLE cloud_owner")
        connection.execute("CREATE DATABASE cloud_hub OWNER cloud_owner")
        yield "cloud_hub"
        connection.execute("DROP DATABASE cloud_hub WITH (FORCE)")
        connection.execute("DROP OWNED BY cloud_admin")
        connection.execute("DROP ROLE cloud_admin, cloud_owner")


def test_the_setup_job_needs_no_superuser(postgres_url: str, cloud_database: str) -> None:
    """`postgres` is none on Cloud SQL (https://cloud.google.com/sql/docs/postgres/users)."""
    told = {"PGUSER": "cloud_admin", "PGDATABASE": cloud_database}
    run_setup(postgres_url, **told)
    run_setup(postgres_url, **told)

    there = make_url(postgres_url).set(database=cloud_database).render_as_string(False)
    Database(address_of(JOBS, there)).migrate()
    Database(address_of(FRONT, there)).make_ready(may_migrate=False)


def test_the_setup_job_waits_until_the_database_lets_it_in(
    postgres_url: str, users: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rights are known everywhere only after a while; here nobody listens until the job has waited once."""
    told = told_to_setup(postgres_url)
    for name, value in {**told, "PGPORT": "1"}.items():
        monkeypatch.setenv(name, value)
    pauses: list[float] = []

    def let_in(seconds: float) -> None:
        pauses.append(seconds)
        monkeypatch.setenv("PGPORT", told["PGPORT"])

    monkeypatch.setattr(time, "sleep", let_in)
    runpy.run_path(str(SCRIPT_FILE), run_name="__main__")

    assert pauses == [5]
    Database(address_of(JOBS, postgres_url)).migrate()


def test_redis_certificate_is_checked_against_the_instances_own_authority() -> None:
    text = (MODULE / "secrets.tf").read_text()
    assert text.count("}/0?${local.redis_options}") == 2, "the first Redis, and its replica"
    query = re.search(r"\"ssl_ca_certs=\$\{local\.redis_ca_file\}(\S*)\"", text)
    assert query is not None
    client = connect(f"rediss://:secret@10.1.2.3:6378/0?ssl_ca_certs=/etc/ca.pem{query[1]}")
    connection = client.connection_pool.make_connection()
    assert isinstance(connection, redis.SSLConnection)
    assert connection.ca_certs == "/etc/ca.pem"
    assert connection.cert_reqs.name == "CERT_REQUIRED"
    assert not connection.check_hostname
