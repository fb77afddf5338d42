"""What jobs and folders bring along must never take the lists from everybody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.api_calls import create_run
from tests.services.api import Api

RUNS = "/machineLearningRuns"
SESSIONS = f"{RUNS}/r/profilerSessions"


def profile_in(api: Api, folder: str) -> Path:
    """A session's folder, below the storage root, with the file of one host."""
    place = Path(api.settings.storage_roots[0]) / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / "h0.xplane.pb").write_bytes(b"x")
    return place


def listed(api: Api, path: str) -> list[dict[str, object]]:
    answer = api.http.get(path)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, object]] = next(iter(answer.json().values()))
    return found


def test_folders_with_names_that_cannot_be_told_are_not_taken_in(api: Api) -> None:
    root = Path(api.settings.storage_roots[0]) / "odd"
    for run in ("good", "line\nbreak", "escape\x1b[31m", "/".join(["d" * 200] * 3)):
        profile_in(api, f"odd/{run}/plugins/profile/s")
    profile_in(api, "odd/good/plugins/profile/line\nbreak")
    deep = root / "/".join(["d" * 200] * 2)
    for place in (root, deep):
        answer = api.http.post(f"{RUNS}:import", json={"storageUri": str(place)})
        assert answer.status_code == 200, answer.text
    assert [run["name"] for run in listed(api, RUNS)] == ["machineLearningRuns/good"]
    found = listed(api, f"{RUNS}/good/profilerSessions")
    assert [session["displayName"] for session in found] == ["s"]


@pytest.mark.parametrize("name", ["line\nbreak", "d" * 200])
def test_a_profile_at_such_an_address_is_refused_when_it_is_attached(api: Api, name: str) -> None:
    create_run(api, "r")
    base = Path(api.settings.storage_roots[0]) / ("b" * 100)
    profile_in(api, f"{base.name}/{name}/plugins/profile/{name}")
    told = str(base / name) if name.isprintable() else str(base / "log")
    if not name.isprintable():
        profile_in(api, f"{base.name}/log/plugins/profile/{name}")
    answer = api.http.post(SESSIONS, json={"storageFolderUri": told})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["details"][0]["field"] == "storageFolderUri"
    assert api.http.get(SESSIONS).json() == {"nextPageToken": "", "profilerSessions": []}
