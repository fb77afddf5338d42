"""Who waits learns how far the answer is, and may come back for it instead (RFC 7240)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.services.cluster import PROFILE_PATH, Answer, conversions, get
from tests.services.hub import HubFactory, copy_of, share
from tests.services.pair import Pair, start_pair, until
from tests.services.pause import paused_engine

COME_BACK = {"Prefer": "respond-async"}
PATIENT = {"Prefer": "respond-async, wait=100"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("progress")
    factory = HubFactory(folder)
    yield start_pair(factory, folder)
    factory.stop_all()


def progress(base: str, route: str) -> dict[str, Any]:
    answer = get(f"{base}/progress/{route}")
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = json.loads(answer.body)
    return found


def come_back(url: str) -> Answer:
    """Asks again until the answer is not 202 any more."""
    found: list[Answer] = []

    def is_there() -> bool:
        found.append(get(url, COME_BACK))
        return found[-1].status != 202

    until(is_there)
    return found[-1]


def test_progress_is_seen_while_an_answer_is_made_and_it_is_made_once(
    pair: Pair, small_session: Path
) -> None:
    base = pair.share(small_session, "seen")
    size = sum(path.stat().st_size for path in small_session.glob("*.xplane.pb"))
    route = "data?tag=overview_page&host=ALL_HOSTS"
    before = sum(conversions(pair.worker).values())
    assert progress(base, route)["state"] == "idle"
    with ThreadPoolExecutor(1) as pool:
        with paused_engine(pair.worker):
            waiting = pool.submit(get, f"{base}/{route}")
            until(lambda: progress(base, route)["phase"] == "convert")
            first = progress(base, route)
            assert (first["state"], first["ahead"], first["totalBytes"]) == ("running", 0, size)
            until(lambda: float(progress(base, route)["seconds"]) > first["seconds"] + 0.3)
            accepted = get(f"{base}/{route}", COME_BACK)
        whole = waiting.result(100)
    assert accepted.status == 202
    assert accepted.headers["preference-applied"] == "respond-async"
    assert int(accepted.headers["retry-after"]) >= 1
    assert accepted.headers["cache-control"] == "no-store"
    assert "etag" not in accepted.headers
    assert json.loads(accepted.body)["phase"] == "convert"
    assert whole.status == 200
    back = get(f"{base}/{route}", COME_BACK)
    assert (back.status, back.body) == (200, whole.body)
    assert progress(base, route)["state"] == "ready"
    assert sum(conversions(pair.worker).values()) == before + 1


def test_work_goes_on_for_one_who_has_gone(pair: Pair, small_session: Path) -> None:
    base = pair.share(small_session, "gone")
    url = f"{base}/data?tag=hlo_stats&host=ALL_HOSTS"
    with paused_engine(pair.worker):
        assert get(url, {"Prefer": "respond-async, wait=1"}).status == 202
        assert get(url, COME_BACK).status == 202
    until(lambda: progress(base, "data?tag=hlo_stats&host=ALL_HOSTS")["state"] == "ready")
    answer = get(url, COME_BACK)
    assert answer.status == 200
    assert answer.body == get(url).body


@pytest.mark.parametrize("route", ["run_tools", "module_list", "data_csv?tag=hlo_stats"])
def test_every_answer_can_be_come_back_for(pair: Pair, small_session: Path, route: str) -> None:
    base = pair.share(small_session, f"back {route.partition('?')[0]}")
    with paused_engine(pair.worker):
        assert get(f"{base}/{route}", COME_BACK).status == 202
        until(lambda: progress(base, route)["state"] == "running")
    answer = get(f"{base}/{route}", PATIENT)
    assert (answer.status, answer.body) == (200, get(f"{base}/{route}").body)
    assert progress(base, route)["state"] == "ready"


def test_the_health_of_a_session_can_be_come_back_for(pair: Pair, small_session: Path) -> None:
    pair.share(small_session, "health")
    url = f"{pair.front.url}/v1/machineLearningRuns/health/profilerSessions/s/health"
    answer = come_back(url)
    assert (answer.status, answer.body) == (200, get(url).body)
    assert json.loads(answer.body)["usableHosts"] == 2


@pytest.mark.parametrize("prefer", [COME_BACK, PATIENT])
def test_a_failure_is_told_to_the_one_who_comes_back(
    pair: Pair, small_session: Path, prefer: dict[str, str]
) -> None:
    name = f"failure {len(prefer['Prefer'])}"
    folder = copy_of(small_session, pair.root / f"{name} files")
    for path in folder.iterdir():
        path.write_bytes(b"<html>this is no profile</html>")
    base = share(pair.front.url, name, "s", folder) + PROFILE_PATH
    route = "data?tag=overview_page&host=ALL_HOSTS"
    answer = get(f"{base}/{route}", prefer)
    if prefer is COME_BACK:
        answer = come_back(f"{base}/{route}")
    assert answer.status == 422
    assert json.loads(answer.body)["error"]["details"][0]["reason"] == "malformed"


def test_questions_about_nothing_are_not_found(pair: Pair, small_session: Path) -> None:
    base = pair.share(small_session, "nothing")
    for route in (
        "runs",
        "config",
        "index.html",
        "data?tag=no_such_tool",
        "data?tag=hlo_stats&host=x",
    ):
        assert get(f"{base}/progress/{route}").status == 404, route
    assert get(f"{base}/progress/data?tag=trace_viewer@&resolution=many").status == 400
    assert get(f"{pair.front.url}/s/xph_nobody{PROFILE_PATH}/progress/data").status == 404
