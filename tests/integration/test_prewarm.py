"""Attaching a session converts what its first page asks for: once, in the background, and not for ever."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

import psutil
import pytest

from server.registry.database import Database
from server.registry.sessions import get_session
from server.registry.summaries import get_summary
from server.settings import DATABASE_FILE
from tests.services.cluster import PROFILE_PATH, conversions, get
from tests.services.hub import HubFactory, HubProcess, copy_of, post
from tests.services.pair import Pair, lookups, start_pair, until
from tests.services.pause import paused_engine

IN_FLIGHT = "xprof_hub_requests_in_flight "


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("prewarm")
    factory = HubFactory(folder)
    yield start_pair(factory, folder, XPROF_HUB_PREWARM="true", XPROF_HUB_CONVERSIONS="1")
    factory.stop_all()


def runs_of(front: HubProcess) -> str:
    return f"{front.url}/v1/machineLearningRuns"


def attach(pair: Pair, session: Path, run: str, query: str = "", **body: object) -> str:
    """Attaches a copy of the session to a new run; returns the session's address."""
    runs = runs_of(pair.front)
    folder = copy_of(session, pair.root / run)
    post(f"{runs}?machineLearningRunId={run}", {})
    where = f"{runs}/{run}/profilerSessions?profilerSessionId=s{query}"
    attached = post(where, {"storageFolderUri": str(folder), **body})
    assert attached["prewarm"] in {"waiting", "skipped"}
    return f"{runs}/{run}/profilerSessions/s"


def link_to(session: str) -> str:
    """Address of XProf under a new link to the session."""
    return f"{post(f'{session}/shareLinks', {})['uri']}{PROFILE_PATH}"


def state_of(session: str) -> str:
    answer = get(session).json()
    assert isinstance(answer, dict)
    return str(answer["prewarm"])


def wait_until_done(pair: Pair, session: str) -> None:
    """Until a session is converted and its figures are read, too: then nothing more is asked for it."""
    until(lambda: state_of(session) == "done")
    run, name = session.split("/machineLearningRuns/")[1].split("/profilerSessions/")
    database = Database(f"sqlite:///{pair.env['XPROF_HUB_DATA_DIR']}/{DATABASE_FILE}")
    uid = get_session(database, unquote(run), unquote(name)).uid

    def has_figures() -> bool:
        found = get_summary(database, uid)
        return found is not None and bool(found.state.engine)

    until(has_figures)
    database.close()


def wait_until_converting(session: str) -> None:
    """Until the engine, which a test has paused, holds up the first thing that is made of a session.

    Before that, and between two things, nothing is asked of the worker, as when all was given up.
    """
    converting = f"{link_to(session)}/progress/run_tools"
    until(lambda: progress(converting)["phase"] == "convert")


def progress(url: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(get(url).body)
    return found


def ask(method: str, url: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=60):
        pass


def is_connected(pair: Pair) -> bool:
    """Whether the front end has a connection to the worker, busy or idle."""
    port = urlsplit(pair.worker.url).port
    connections = psutil.Process(pair.front.process.popen.pid).net_connections("tcp")
    return any(
        link.raddr and link.raddr.port == port and link.status == psutil.CONN_ESTABLISHED
        for link in connections
    )


def asked_of_worker(pair: Pair) -> float:
    """How many requests the worker has in hand, besides this one."""
    metrics = get(f"{pair.worker.url}/metrics").body.decode()
    (line,) = (row for row in metrics.splitlines() if row.startswith(IN_FLIGHT))
    return float(line.removeprefix(IN_FLIGHT)) - 1


def first_page(host: str) -> list[str]:
    """What XProf's page asks for on its first opening (facts of xprof 2.24.2; see tests/browser)."""
    trace = {"tag": "trace_viewer@", "host": host, "hosts": host, "resolution": "4760"}
    return [
        "status",
        "run_tools?run=s",
        "data?run=s&tag=overview_page&host=ALL_HOSTS",
        f"data?run=s&{urlencode(trace)}",
    ]


def first_conversions(pair: Pair) -> dict[tuple[str, str], int]:
    """What was made for a first opening, without what the hub reads figures from after that."""
    figures = {"pod_viewer", "framework_op_stats", "memory_profile"}
    made = conversions(pair.worker).items()
    return {(tool, source): count for (tool, source), count in made if tool not in figures}


def test_the_first_click_is_a_hit(pair: Pair, small_session: Path) -> None:
    session = attach(pair, small_session, "hit")
    wait_until_done(pair, session)
    made = first_conversions(pair)
    before = lookups(pair.front)
    host = min(path.name for path in small_session.iterdir()).removesuffix(".xplane.pb")
    link = link_to(session)
    asked = first_page(host)
    for route in asked:
        assert get(f"{link}/{route}").status == 200
    after = lookups(pair.front)
    assert after["hit"] == before.get("hit", 0) + len(asked)
    assert after.get("miss", 0) == before.get("miss", 0)
    assert first_conversions(pair) == made
    metrics = get(f"{pair.front.url}/metrics").body.decode()
    assert 'xprof_hub_prewarms_total{outcome="done"}' in metrics


def test_progress_of_a_prewarm_leaves_the_sessions_etag_alone(
    pair: Pair, small_session: Path
) -> None:
    session = attach(pair, small_session, "etag")
    etag = get(session).headers["etag"]
    wait_until_done(pair, session)
    assert get(session).headers["etag"] == etag


@pytest.mark.parametrize(
    ("query", "body"), [("&prewarm=false", {}), ("", {"expectedHosts": 3})], ids=["asked", "hosts"]
)
def test_what_is_not_wanted_or_not_whole_is_skipped(
    pair: Pair, small_session: Path, query: str, body: dict[str, object]
) -> None:
    session = attach(pair, small_session, f"skipped{len(query)}", query, **body)
    assert state_of(session) == "skipped"


def test_a_session_above_the_limit_is_skipped(
    hubs: HubFactory, pair: Pair, small_session: Path
) -> None:
    front = hubs.start({**pair.env, "XPROF_HUB_PREWARM_BYTES": "1000"}, only="front")
    small = Pair(front, pair.worker, pair.root, pair.env)
    assert state_of(attach(small, small_session, "large")) == "skipped"


def test_it_can_be_cancelled_on_another_front_end(
    hubs: HubFactory, pair: Pair, small_session: Path
) -> None:
    other = hubs.start(pair.env, only="front")
    made = first_conversions(pair)
    with paused_engine(pair.worker):
        session = attach(pair, small_session, "cancelled")
        wait_until_converting(session)
        assert state_of(session) == "running"
        elsewhere = session.replace(pair.front.url, other.url)
        ask("POST", f"{elsewhere}:cancelPrewarm")
        assert state_of(session) == "cancelled"
        until(lambda: not is_connected(pair))
    check_that_the_next_one_is_all(pair, small_session, made, "after cancelling")
    assert state_of(session) == "cancelled"
    ask("POST", f"{session}:cancelPrewarm")
    assert state_of(session) == "cancelled"


def check_that_the_next_one_is_all(
    pair: Pair, session: Path, made: dict[tuple[str, str], int], run: str
) -> None:
    """Prewarms another session and checks that nothing else was converted since: its three answers."""
    after = attach(pair, session, quote(run))
    wait_until_done(pair, after)
    assert sum(first_conversions(pair).values()) == sum(made.values()) + 3


def test_deleting_the_session_ends_it(pair: Pair, small_session: Path) -> None:
    made = first_conversions(pair)
    with paused_engine(pair.worker):
        session = attach(pair, small_session, "deleted")
        wait_until_converting(session)
        until(lambda: asked_of_worker(pair) == 1)
        ask("DELETE", session)
        until(lambda: asked_of_worker(pair) == 0)
    assert get(session).status == 404
    check_that_the_next_one_is_all(pair, small_session, made, "after-deleting")


def test_a_front_end_that_stops_leaves_no_session_under_way(
    hubs: HubFactory, pair: Pair, small_session: Path
) -> None:
    leaving = hubs.start(pair.env, only="front")
    with paused_engine(pair.worker):
        session = attach(Pair(leaving, pair.worker, pair.root, pair.env), small_session, "stopped")
        until(lambda: state_of(session) == "running")
        assert leaving.stop() == 0
    assert state_of(session.replace(leaving.url, pair.front.url)) == "failed"


def test_a_damaged_profile_is_done_and_says_why_at_the_first_click(
    pair: Pair, small_session: Path
) -> None:
    folder = copy_of(small_session, pair.root / "damaged files")
    for path in folder.iterdir():
        path.write_bytes(b"no profile at all")
    session = attach(pair, folder, "damaged")
    wait_until_done(pair, session)
    answer = get(f"{link_to(session)}/data?tag=overview_page&host=ALL_HOSTS")
    assert json.loads(answer.body)["error"]["details"][0]["reason"] == "malformed"


def test_people_go_before_sessions_that_nobody_has_opened(pair: Pair, small_session: Path) -> None:
    with paused_engine(pair.worker):
        first = attach(pair, small_session, "first")
        wait_until_converting(first)
        second = attach(pair, small_session, "second")
        until(lambda: progress(f"{link_to(second)}/progress/status")["phase"] == "wait")
        link = link_to(attach(pair, small_session, "opened", "&prewarm=false"))
        route = "data?tag=overview_page&host=ALL_HOSTS"
        assert get(f"{link}/{route}", {"Prefer": "respond-async, wait=1"}).status == 202
        until(lambda: progress(f"{link}/progress/{route}")["phase"] == "wait")
        # One of the three has the only place; the one that a person wants is the next.
        assert progress(f"{link}/progress/{route}")["ahead"] == 0
    assert get(f"{link}/{route}").status == 200
    for session in (first, second):
        wait_until_done(pair, session)


def test_a_name_with_a_colon_is_a_session_like_any(pair: Pair, small_session: Path) -> None:
    runs = runs_of(pair.front)
    folder = copy_of(small_session, pair.root / "colon files")
    post(f"{runs}?machineLearningRunId=colon", {})
    name = quote("s:cancelPrewarm", safe="")
    sessions = f"{runs}/colon/profilerSessions"
    post(f"{sessions}?profilerSessionId={name}&prewarm=false", {"storageFolderUri": str(folder)})
    ask("POST", f"{sessions}/{name}:cancelPrewarm")
    assert state_of(f"{sessions}/{name}") == "skipped"
    ask("DELETE", f"{sessions}/{name}")
