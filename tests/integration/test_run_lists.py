"""The list of runs for people, the same on both databases: what it finds, its orders, what it counts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from server.filters import RUN_FIELDS, read_filter
from server.registry.database import Database
from server.registry.deleting import delete_run, delete_session
from server.registry.records import Json, RunState, SessionOrigin
from server.registry.run_lists import (
    RunListPage,
    RunOrder,
    RunQuery,
    run_choices,
    search_runs,
)
from server.registry.runs import RunChanges, create_run
from server.registry.sessions import NewSession, create_session
from server.registry.summaries import HostSize, SessionSummary, keep_summary

START = datetime(2026, 11, 1, tzinfo=UTC)


def at(days: float) -> datetime:
    return START + timedelta(days=days)


def add_run(
    database: Database,
    run: str,
    day: float = 0,
    creator: str = "ann",
    **values: object,
) -> None:
    create_run(database, run, RunChanges(**values), creator=creator, now=at(day))  # type: ignore[arg-type]


def add_session(database: Database, run: str, session: str, day: float, *sizes: int) -> str:
    new = NewSession(session, (f"gs://b/{run}/{session}",), session)
    uid = create_session(database, run, new, creator="job", now=at(day)).uid
    if sizes:
        hosts = tuple(HostSize(f"h{number}", size) for number, size in enumerate(sizes))
        keep_summary(database, uid, SessionSummary("d", hosts, sum(sizes), None, at(day)))
    return uid


def software(framework: str) -> dict[str, Json]:
    return {"softwareConfigs": {"framework": framework}}


def names(page: RunListPage) -> list[str]:
    return [run.id for run in page.runs]


def found(database: Database, **query: object) -> list[str]:
    page = search_runs(database, RunQuery(**query))  # type: ignore[arg-type]
    assert page.total == len(page.runs)
    return names(page)


def fill(database: Database) -> None:
    add_run(
        database,
        "one",
        1,
        display_name="Llama 8B, 100% größer",
        labels={"team": "perf", "note": "ünïcode_x"},
        run_set="llama",
        configs=software("JAX"),
    )
    add_run(
        database,
        "two",
        2,
        "bob",
        display_name="llama 70b",
        labels={"team": "vision", "framework": "jax"},
        run_set="llama",
        state=RunState.FAILED,
    )
    add_run(
        database,
        "three",
        3,
        "Bob B.",
        display_name="ViT",
        labels={"gpu": ""},
        configs={**software("PyTorch"), "userConfigs": {"batch": "64"}},
    )


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({}, ["three", "two", "one"]),
        ({"words": ("LLAMA",)}, ["two", "one"]),
        ({"words": ("llama", "70B")}, ["two"]),
        ({"words": ("thre",)}, ["three"]),
        ({"words": ("bob",)}, ["three", "two"]),
        ({"words": ("vision",)}, ["two"]),
        ({"words": ("größer",)}, ["one"]),
        ({"words": ("ünïcode",)}, ["one"]),
        ({"words": ("100%",)}, ["one"]),
        ({"words": ("e_x",)}, ["one"]),
        ({"words": ("0_",)}, []),
        ({"words": ("%",)}, ["one"]),
        ({"group": "llama"}, ["two", "one"]),
        ({"group": "Llama"}, []),
        ({"state": RunState.FAILED}, ["two"]),
        ({"owner": "bob"}, ["two"]),
        ({"framework": "jax"}, ["two", "one"]),
        ({"framework": "pytorch"}, ["three"]),
        ({"labels": (("team", "perf"),)}, ["one"]),
        ({"labels": (("team", ""),)}, ["two", "one"]),
        ({"labels": (("gpu", ""),)}, ["three"]),
        ({"labels": (("team", "vision"), ("framework", "jax"))}, ["two"]),
        ({"since": at(2)}, ["three", "two"]),
        ({"until": at(2)}, ["one"]),
        ({"since": at(2), "until": at(3)}, ["two"]),
        (
            {"condition": read_filter('configs.userConfigs.batch = "64"', RUN_FIELDS)},
            ["three"],
        ),
        ({"words": ("llama",), "owner": "ann", "framework": "jax", "since": at(1)}, ["one"]),
        ({"order": RunOrder.NEWEST, "reverse": True}, ["one", "two", "three"]),
        ({"order": RunOrder.NAME}, ["two", "one", "three"]),
        ({"order": RunOrder.NAME, "reverse": True}, ["three", "one", "two"]),
    ],
    ids=repr,
)
def test_what_is_asked_for_is_found(
    filled: Database, query: Mapping[str, object], wanted: list[str]
) -> None:
    assert found(filled, **query) == wanted


@pytest.fixture(scope="module")
def filled(many_databases: Database) -> Database:
    fill(many_databases)
    return many_databases


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def many_databases(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Database:
    """A database for the whole module: its tests only read."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('lists') / 'registry.sqlite'}"
    else:
        url = request.getfixturevalue("postgres_server").create_database()
    opened = Database(url)
    opened.migrate()
    request.addfinalizer(opened.close)
    return opened


def test_choices_are_what_runs_have(filled: Database) -> None:
    choices = run_choices(filled)
    assert choices.groups == ("llama",)
    assert choices.owners == ("Bob B.", "ann", "bob")
    assert choices.frameworks == ("jax", "pytorch")


def test_sessions_hosts_and_bytes_are_counted_and_sorted_by(database: Database) -> None:
    for number, run in enumerate(("none", "few", "many")):
        add_run(database, run, number)
    add_session(database, "few", "a", 9, 100, 20)
    add_session(database, "many", "a", 5, 7)
    parts = [add_session(database, "many", name, 6, 1000) for name in ("b", "c")]
    add_session(database, "many", "unknown", 7)
    merged = NewSession(
        "merged",
        ("x", "y"),
        "m",
        merged_from=(SessionOrigin("b", parts[0]), SessionOrigin("c", parts[1])),
    )
    uid = create_session(database, "many", merged, creator="ann", now=at(8)).uid
    both = (HostSize("h0", 1000), HostSize("h1", 1000), HostSize("h2", 0))
    keep_summary(database, uid, SessionSummary("d", both, 2000, None, at(8)))
    add_session(database, "many", "gone", 20, 5000, 1, 1, 1)
    delete_session(database, "many", "gone", etag=None, now=at(20))

    by_count = search_runs(database, RunQuery(order=RunOrder.SESSIONS)).runs
    told = [(run.id, run.sessions, run.hosts, run.bytes, run.last_session) for run in by_count]
    # A merged session has no files of its own, but all the hosts.
    assert told == [
        ("many", 5, 3, 2007, at(8)),
        ("few", 1, 2, 120, at(9)),
        ("none", 0, None, None, None),
    ]
    assert found(database, order=RunOrder.SESSIONS, reverse=True) == ["none", "few", "many"]
    assert found(database, order=RunOrder.LAST_SESSION) == ["few", "many", "none"]
    assert found(database, order=RunOrder.LAST_SESSION, reverse=True) == ["many", "few", "none"]


def test_pages_hold_every_run_once_and_count_all(database: Database) -> None:
    for number in range(7):
        add_run(database, f"r{number}", 0, labels={"team": "a"})
    for query in (RunQuery(size=3), RunQuery(size=3, labels=(("team", "a"),))):
        pages = [
            search_runs(database, RunQuery(size=3, labels=query.labels, page=number))
            for number in (1, 2, 3, 4)
        ]
        assert [len(page.runs) for page in pages] == [3, 3, 1, 0]
        assert {page.total for page in pages} == {7}
        assert len({run for page in pages for run in names(page)}) == 7


def test_deleted_runs_are_gone_from_lists_and_choices(database: Database) -> None:
    add_run(database, "kept", run_set="a")
    add_run(database, "gone", run_set="b", creator="bob", configs=software("JAX"))
    delete_run(database, "gone", etag=None, now=at(1))
    assert found(database) == ["kept"]
    choices = run_choices(database)
    assert (choices.groups, choices.owners, choices.frameworks) == (("a",), ("ann",), ())
