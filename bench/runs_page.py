"""How long the page of runs takes in the server when there are ten thousand, on SQLite and on PostgreSQL.

    python -m bench.runs_page [postgresql://user:password@host/empty_database]

Fills an empty database, then measures what a front end does for the page: queries, and the page as text. HTTP
adds about a millisecond.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median

from sqlalchemy import insert, text

from server.filters import RUN_FIELDS, read_filter
from server.registry.database import Database
from server.registry.models import RunRow, SessionRow
from server.registry.people_models import SummaryRow
from server.registry.records import RunState
from server.registry.run_lists import RunOrder, RunQuery, run_choices, search_runs
from server.run_pages.addresses import ReadChoice, RunChoice
from server.run_pages.run_list import view_of
from server.ui.site import Frame, render_page

RUNS = 10_000
SESSIONS_EACH = 3
ROUNDS = 15
_START = datetime(2026, 1, 1, tzinfo=UTC)
_FRAMEWORKS = ("JAX", "PyTorch", "TensorFlow")

FRAME = Frame("", "/_assets/hash/", "Ann", "editor", True, frozenset({"runs.read", "runs.write"}))
QUERIES: Mapping[str, RunQuery] = {
    "newest": RunQuery(),
    "page 150": RunQuery(page=150),
    "by name": RunQuery(order=RunOrder.NAME),
    "by last session": RunQuery(order=RunOrder.LAST_SESSION),
    "by sessions": RunQuery(order=RunOrder.SESSIONS),
    "two words": RunQuery(words=("train", "777")),
    "group and state": RunQuery(group="group-7", state=RunState.FAILED),
    "framework": RunQuery(framework="jax"),
    "label": RunQuery(labels=(("team", "team-3"),)),
    "owner and dates": RunQuery(owner="user-5", since=_START, until=_START + timedelta(days=30)),
    "advanced filter": RunQuery(
        condition=read_filter('configs.userConfigs.batch = "64"', RUN_FIELDS)
    ),
    "everything": RunQuery(
        words=("train",),
        framework="pytorch",
        labels=(("team", ""),),
        owner="user-5",
        order=RunOrder.LAST_SESSION,
    ),
}


def fill(database: Database) -> None:
    """Makes the runs, with sessions, sizes and configurations as jobs send them."""
    database.migrate()
    with database.writing() as session:
        session.execute(insert(RunRow), [_run(number) for number in range(RUNS)])
        sessions = [_session(number) for number in range(RUNS * SESSIONS_EACH)]
        session.execute(insert(SessionRow), sessions)
        summaries = [_summary(number) for number in range(RUNS * SESSIONS_EACH)]
        session.execute(insert(SummaryRow), summaries)


def _run(number: int) -> dict[str, object]:
    made = _START + timedelta(minutes=number * 7)
    configs = {
        "softwareConfigs": {"framework": _FRAMEWORKS[number % 3], "xla_flags": "--xla_dump " * 20},
        "hardwareConfigs": {"device_type": "TPU v5e", "num_slices": "2", "devices_per_slice": "8"},
        "userConfigs": {"batch": str(2 ** (number % 9)), **{f"k{n}": str(n) for n in range(20)}},
    }
    return {
        "key": number + 1,
        "id": f"run-{number}",
        "uid": f"uid-{number}",
        "display_name": f"Train model {number * 7919 % RUNS}",
        "labels": {"team": f"team-{number % 11}", "framework": _FRAMEWORKS[number % 3].lower()},
        "run_set": f"group-{number % 40}",
        "configs": configs,
        "artifacts": {},
        "state": list(RunState)[number % 4].value,
        "seen": made,
        "creator": f"user-{number % 25}",
        "created": made,
        "updated": made,
        "version": 1,
    }


def _session(number: int) -> dict[str, object]:
    made = _START + timedelta(minutes=number * 7 // SESSIONS_EACH + number % 13)
    return {
        "key": number + 1,
        "run_key": number // SESSIONS_EACH + 1,
        "id": f"session-{number}",
        "uid": f"session-uid-{number}",
        "display_name": f"session {number}",
        "location": f"gs://profiles/team/run-{number}/plugins/profile/2026_01_01",
        "creator": "job",
        "created": made,
        "updated": made,
        "version": 1,
    }


def _summary(number: int) -> dict[str, object]:
    return {
        "session_key": number + 1,
        "digest": f"digest-{number}",
        "hosts": [{"name": f"host-{host}", "bytes": 50_000_000} for host in range(4)],
        "host_count": 4,
        "total_bytes": 200_000_000,
        "figures": {"figures": {"step_times_ms": [120.5] * 200}},
        "details": {},
        "looked": _START,
    }


def milliseconds(act: Callable[[], object]) -> float:
    """The median of some rounds, after one that counts for nothing."""
    act()
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        act()
        found.append((time.perf_counter() - start) * 1000)
    return median(found)


def page_of(database: Database, query: RunQuery) -> str:
    """What a front end does for a page."""
    read = ReadChoice(RunChoice(), query)
    view = view_of(read, search_runs(database, query), run_choices(database), "/runs")
    return render_page("runs.html", FRAME, view=view)


def measure(database: Database) -> dict[str, float]:
    """Milliseconds of each page."""
    return {
        name: milliseconds(partial(page_of, database, query)) for name, query in QUERIES.items()
    }


def settle(database: Database) -> None:
    """Lets PostgreSQL know what the tables hold now, as it finds out by itself within a minute."""
    if database.dialect == "postgresql":
        with database.writing() as session:
            session.execute(text("ANALYZE"))


def main(arguments: Sequence[str]) -> None:
    """Prints a table.

    Args:
        arguments: of the command line.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.runs_page", description=__doc__)
    parser.add_argument("urls", nargs="*", metavar="URL", help="empty databases besides SQLite")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        urls = [f"sqlite:///{Path(folder) / 'bench.sqlite'}", *chosen.urls]
        for url in urls:
            database = Database(url)
            fill(database)
            settle(database)
            print(f"{database.dialect}, {RUNS} runs, {RUNS * SESSIONS_EACH} sessions")
            for name, value in measure(database).items():
                print(f"  {name:18} {value:7.1f} ms")
            database.close()


if __name__ == "__main__":
    main(sys.argv[1:])
