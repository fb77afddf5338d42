"""`:import` and `:scan`, by the API and by the commands, on folders of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import httpx2
import pytest

from tests.contract.api_calls import create_run, error_of, fields_of
from tests.contract.commands import Commands
from tests.services.api import Api, ApiServers

RUNS = "/machineLearningRuns"
NAMES = ("2025_01_01_12_00_00", "2025_02_01_12_00_00")


def write(folder: Path, *hosts: str) -> None:
    folder.mkdir(parents=True)
    for host in hosts or ("h0",):
        (folder / f"{host}.xplane.pb").write_bytes(b"profile")


def library(api: Api, *runs: str) -> Path:
    """A folder with these runs, two sessions each, checkpoints beside them."""
    root = Path(api.settings.storage_roots[0]) / "library"
    for run in runs:
        for name in NAMES:
            write(root / run / "plugins" / "profile" / name)
        (root / run / "checkpoints" / "1").mkdir(parents=True)
    (root / "checkpoints").mkdir(exist_ok=True)
    return root


def ask(api: Api, root: Path, **body: object) -> httpx2.Response:
    return api.http.post(f"{RUNS}:import", json={"storageUri": str(root), **body})


def test_a_folder_of_profiles_becomes_runs_page_by_page(api: Api) -> None:
    root = library(api, "a", "b", "c")
    first = ask(api, root, pageSize=2).json()
    assert first["runs"] == [
        {
            "storageFolderUri": str(root / "a"),
            "run": "machineLearningRuns/a",
            "outcome": "NEW",
            "sessions": 2,
            "newSessions": 2,
        },
        {
            "storageFolderUri": str(root / "b"),
            "run": "machineLearningRuns/b",
            "outcome": "NEW",
            "sessions": 2,
            "newSessions": 2,
        },
    ]
    assert first["lookedInto"] == 2
    second = ask(api, root, pageSize=2, pageToken=first["nextPageToken"]).json()
    assert [run["run"] for run in second["runs"]] == ["machineLearningRuns/c"]
    assert (second["lookedInto"], second["nextPageToken"]) == (2, "")
    run = api.http.get(f"{RUNS}/a").json()
    assert (run["state"], run["storageRoot"], run["sessionCount"]) == ("COMPLETED", str(root), 2)
    assert run["runSet"] == "library"


def test_a_dry_run_changes_nothing(api: Api) -> None:
    root = library(api, "a")
    answer = ask(api, root, validateOnly=True).json()
    assert [(run["outcome"], run["newSessions"]) for run in answer["runs"]] == [("NEW", 2)]
    assert api.http.get(RUNS).json()["machineLearningRuns"] == []


def test_importing_again_brings_back_what_was_deleted_and_nothing_twice(api: Api) -> None:
    root = library(api, "a")
    ask(api, root)
    api.http.delete(f"{RUNS}/a/profilerSessions/{NAMES[0]}")
    again = ask(api, root).json()
    assert [(run["outcome"], run["newSessions"]) for run in again["runs"]] == [("KNOWN", 1)]
    assert ask(api, root).json()["runs"][0]["newSessions"] == 0
    api.http.delete(f"{RUNS}/a")
    assert ask(api, root).json()["runs"][0]["newSessions"] == 2


def test_a_place_that_may_not_be_read_is_not(api: Api, tmp_path: Path) -> None:
    write(tmp_path / "r" / "plugins" / "profile" / NAMES[0])
    assert error_of(ask(api, tmp_path)) == (403, "PERMISSION_DENIED")
    assert error_of(ask(api, Path(api.settings.storage_roots[0]) / "no")) == (404, "NOT_FOUND")


def test_a_run_is_scanned_when_asked(api: Api) -> None:
    root = library(api, "a")
    assert create_run(api, "a", storageRoot=str(root)).status_code == 200
    answer = api.http.post(f"{RUNS}/a:scan").json()
    assert answer == {"newSessions": 2, "openSessions": 2}
    write(root / "a" / "plugins" / "profile" / "2025_03_01_12_00_00")
    assert api.http.post(f"{RUNS}/a:scan").json()["newSessions"] == 1
    assert api.http.post(f"{RUNS}/a:scan").json()["newSessions"] == 0


def test_where_nobody_said_what_to_scan_the_field_is_named(api: Api) -> None:
    create_run(api, "a")
    answer = api.http.post(f"{RUNS}/a:scan")
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == ["storageRoot"]
    assert api.http.post(f"{RUNS}/b:scan").status_code == 404


@pytest.fixture
def one_api(api_servers: ApiServers) -> Api:
    """One database is enough for what commands do."""
    return api_servers.get("sqlite", "dev")


def test_the_commands_import_and_scan(one_api: Api) -> None:
    root = library(one_api, "a", "b", "c", "d", "e")
    hub = Commands(one_api.url)
    dry = hub.run("import", str(root), "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "6 folders looked into: 5 runs, 5 of them new, with 10 sessions" in dry.stderr
    assert "nothing was changed" in dry.stderr
    one = hub.run("import", str(root / "a"), "--dry-run")
    assert "1 folder looked into: 1 run, 1 of them new, with 2 sessions" in one.stderr
    done = hub.run("import", str(root))
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["RUN", "STATE", "SESSIONS", "NEW"]
    assert lines[1:] == [[run, "new", "2", "2"] for run in "abcde"]
    again = json.loads(hub.run("import", str(root), "--json").stdout)
    assert [(run["outcome"], run["newSessions"]) for run in again] == [("KNOWN", 0)] * 5
    write(root / "a" / "plugins" / "profile" / "2025_03_01_12_00_00")
    scanned = hub.run("scan", "a")
    assert scanned.stdout.startswith("1 new sessions; ")


def test_a_relative_folder_is_the_callers(one_api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    root = library(one_api, "a")
    monkeypatch.chdir(root.parent)
    done = Commands(one_api.url).run("import", "library", "--json")
    assert [run["storageFolderUri"] for run in json.loads(done.stdout)] == [str(root / "a")]
    # What has a scheme is an address, also one that the hub may not read: no folder here is meant.
    refused = Commands(one_api.url).run("import", "s3://bucket/library")
    assert refused.exit_code == 4
    assert str(root.parent) not in refused.stderr


def test_an_import_goes_on_where_it_was_broken_off(one_api: Api) -> None:
    root = library(one_api, "a", "b", "c")
    rest = Commands(one_api.url).run("import", str(root), "--after", "b/", "--json")
    assert [run["run"] for run in json.loads(rest.stdout)] == [
        "machineLearningRuns/c",
    ]
