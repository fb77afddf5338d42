"""A thousand sessions that are attached to one run at once: none is lost, and none is there twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from tests.contract.api_calls import PROFILE, create_run, run_path
from tests.contract.managed_calls import PLACE, create
from tests.services.api import Api

SESSIONS = 1000
CLIENTS = 16
SENT_AGAIN = 5
"""Each so-manieth request is sent twice at once, as by a client that lost its connection."""


def test_through_the_api(api: Api) -> None:
    create_run(api, "r")
    folder = Path(api.settings.storage_roots[0])
    names = [f"session-{number:04}" for number in range(SESSIONS)]
    for name in names:
        (folder / f"{name}.xplane.pb").write_bytes(PROFILE)

    def attach(name: str) -> httpx2.Response:
        return api.http.post(
            f"{run_path('r')}/profilerSessions",
            params={"requestId": f"attach {name}"},
            json={"storageFolderUri": str(folder / f"{name}.xplane.pb")},
        )

    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(attach, with_some_twice(names)))
    assert {answer.status_code for answer in answers} == {200}
    told = {answer.json()["name"]: answer.json()["uid"] for answer in answers}
    assert len({answer.json()["uid"] for answer in answers}) == SESSIONS
    kept = kept_sessions(api)
    assert [one["displayName"] for one in kept] == names
    assert {one["name"]: one["uid"] for one in kept} == told


def test_through_the_managed_api(api: Api) -> None:
    """A fourth of them: what the two protocols share is tested above."""
    create(api, "r")
    names = [f"session-{number:04}" for number in range(SESSIONS // 4)]

    def register(name: str) -> int:
        url = f"{api.url}/v1alpha/{PLACE}/machineLearningRuns/r/profilerSessions"
        return api.http.post(url, params={"profiler_session_id": name}, json={}).status_code

    asked = with_some_twice(names)
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(register, asked))
    # Each is made once, and whoever asks for it again is told that it is there.
    assert [answers.count(200), answers.count(409)] == [len(names), len(asked) - len(names)]
    assert [one["displayName"] for one in kept_sessions(api)] == names


def with_some_twice(names: list[str]) -> list[str]:
    return sorted(names + names[::SENT_AGAIN])


def kept_sessions(api: Api) -> list[dict[str, Any]]:
    """The run's sessions by their names, read in pages."""
    found: list[dict[str, Any]] = []
    token = ""
    while True:
        page: dict[str, str | int] = {"pageSize": 300, "pageToken": token, "orderBy": "name"}
        answer = api.http.get(f"{run_path('r')}/profilerSessions", params=page).json()
        found += answer["profilerSessions"]
        token = answer.get("nextPageToken", "")
        if not token:
            assert api.http.get(run_path("r")).json()["sessionCount"] == len(found)
            return found
