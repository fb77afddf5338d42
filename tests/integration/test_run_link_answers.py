"""Under a run's link a session answers as under its own: the same bytes, tags, status and progress."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from tests.services.hub import post, share
from tests.services.shelf import Shelf

XPROF = "/data/plugin/profile"


@pytest.fixture(scope="module")
def bases(shelf: Shelf, small_session: Path) -> tuple[str, str]:
    """Addresses of XProf for one session: under a link of its own, and under its run's."""
    own = share(shelf.url, "run of one", "one", shelf.place(small_session))
    links = f"{shelf.url}/v1/machineLearningRuns/run%20of%20one/shareLinks"
    run = str(post(links, {})["uri"])
    return own + XPROF, f"{run}/sessions/one{XPROF}"


def get(address: str, **headers: str) -> httpx2.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.get(address, headers=sent, timeout=120)


@pytest.mark.parametrize(
    "rest",
    ["/runs", "/run_tools?run=one", "/hosts?run=one&tag=hlo_stats", "/module_list?run=one"],
)
def test_lists_are_the_same(bases: tuple[str, str], rest: str) -> None:
    own, run = (get(base + rest) for base in bases)
    assert own.status_code == run.status_code == 200
    assert own.json() == run.json() if rest != "/module_list?run=one" else own.text == run.text


def test_data_is_the_same_and_is_not_sent_twice(bases: tuple[str, str]) -> None:
    rest = "/data?tag=overview_page&run=one&host=ALL_HOSTS"
    own, run = (get(base + rest) for base in bases)
    assert own.status_code == run.status_code == 200
    assert own.content == run.content
    assert json.loads(run.content)
    again = get(bases[1] + rest, If_None_Match=run.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")


def test_status_and_progress(bases: tuple[str, str]) -> None:
    own, run = (get(f"{base}/status").json() for base in bases)
    assert own == run
    assert run["state"] == "ok"
    rest = "data?tag=overview_page&run=one&host=ALL_HOSTS"
    assert get(f"{bases[1]}/{rest}").status_code == 200
    assert get(f"{bases[1]}/progress/{rest}").json()["state"] in {"ready", "idle"}
