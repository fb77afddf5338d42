"""The worker's own address: only front ends are heard, and nothing that they send makes it fail."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from server.fleet.protocol import TOOL_DATA_PATH, worker_credential
from tests.services.cluster import PROFILE_PATH, SECRET, get
from tests.services.hub import HubFactory, share
from tests.services.shelf import Shelf


@pytest.fixture(scope="module")
def worker(
    tmp_path_factory: pytest.TempPathFactory, small_session: Path
) -> Iterator[httpx2.Client]:
    factory = HubFactory(tmp_path_factory.mktemp("worker"))
    env = {"XPROF_HUB_SECRET_KEY": SECRET, "XPROF_HUB_STORAGE_ROOTS": str(small_session)}
    hub = factory.start(env, only="worker")
    with httpx2.Client(base_url=hub.url, timeout=60, trust_env=False) as client:
        yield client
    factory.stop_all()


def authorized() -> dict[str, str]:
    return {"Authorization": f"Bearer {worker_credential(SECRET)}"}


def body(session: Path, **changed: object) -> dict[str, object]:
    whole: dict[str, object] = {
        "locations": [str(session)],
        "tool": "overview_page",
        "hosts": None,
        "options": {},
        "as_csv": False,
    }
    return {**whole, **changed}


@pytest.mark.parametrize("sent", ["", "Bearer", "Bearer x", f"Bearer {SECRET}", "Basic eDp4"])
def test_strangers_get_401_whatever_they_send(
    worker: httpx2.Client, small_session: Path, sent: str
) -> None:
    bodies = [
        json.dumps(body(small_session)).encode(),
        b"{",
        b'{"locations": ["' + b"x" * 5_000_000,
    ]
    answers = [
        worker.post(TOOL_DATA_PATH, content=content, headers={"Authorization": sent})
        for content in bodies
    ]
    assert [answer.status_code for answer in answers] == [401] * 3
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b'{"locations": ["\\ud800"], "tool": "x", "hosts": null, "options": {}, "as_csv": false}',
        b'{"locations": ["/"], "tool": "x", "hosts": ["\\ud800"], "options": {}, "as_csv": false}',
        b'{"locations": ["/"], "tool": "x", "hosts": null, "options": {"a": NaN}, "as_csv": false}',
        b'{"locations": ["/"], "tool": "x", "hosts": null, "options": {"a": 1e999}, "as_csv": false}',
        b'{"locations": ["/"], "tool": "x", "hosts": null, "options": {}, "as_csv": false, "more": 1}',
        b'{"locations": ["' + b"secret" * 400_000,
    ],
)
def test_nonsense_of_a_front_end_is_400_and_not_repeated(
    worker: httpx2.Client, content: bytes
) -> None:
    answer = worker.post(TOOL_DATA_PATH, content=content, headers=authorized())
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_request"
    assert b"secret" not in answer.content


def test_only_the_roots_and_known_tools(worker: httpx2.Client, small_session: Path) -> None:
    def ask(**changed: object) -> tuple[int, str]:
        answer = worker.post(
            TOOL_DATA_PATH, json=body(small_session, **changed), headers=authorized()
        )
        return answer.status_code, "" if answer.status_code == 200 else answer.json()["code"]

    assert ask() == (200, "")
    assert ask(locations=["/etc"]) == (403, "permission_denied")
    assert ask(locations=[f"{small_session}/../.."]) == (403, "permission_denied")
    assert ask(tool="no_such_tool") == (404, "not_found")
    assert ask(hosts=["../../etc/passwd"]) == (404, "not_found")


def test_a_link_tells_no_place(shelf: Shelf, small_session: Path) -> None:
    folder = shelf.root / "a-place-to-hide" / "session"
    shutil.copytree(small_session, folder)
    base = share(shelf.url, "hidden", "s", folder) + PROFILE_PATH
    shutil.rmtree(folder)
    for route in ("", "status", "run_tools", "data?tag=overview_page", "hosts?tag=hlo_stats"):
        for accept in ("text/html", "*/*"):
            answer = get(f"{base}/{route}", {"Accept": accept})
            assert "a-place-to-hide" not in answer.body.decode()
            assert "a-place-to-hide" not in str(answer.headers)
