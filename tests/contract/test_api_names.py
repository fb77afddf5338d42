"""Strange but lawful names go through the API and come back unchanged, each apart from the others."""

from __future__ import annotations

import pytest

from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    run_path,
    session_path,
    write_profile,
)
from tests.services.api import Api

NAMES = [
    "with space",
    " leading and trailing ",
    "a+b",
    "100%",
    "%41",
    "%2F",
    "a&b=c",
    "#1",
    "what?",
    "a,b;c",
    "x:y@z",
    "host:8080",
    "e\u0301te\u0301",
    "\u00e9t\u00e9",
    "\u65e5\u672c\u8a9e",
    "\U0001f680",
    "\u202egnp",
    "ALL_HOSTS",
    "...",
    "~tilde'quote\"double",
    "back\\slash",
    "<b>&amp;",
    "Case",
    "case",
    "x" * 200,
]


@pytest.fixture
def every_run(api: Api) -> Api:
    """An API that holds a run of every name."""
    for name in NAMES:
        assert create_run(api, name, displayName=f"name: {name}").status_code == 200, name
    return api


def test_names_come_back_unchanged_and_apart(every_run: Api) -> None:
    for name in NAMES:
        run = every_run.http.get(run_path(name)).json()
        assert run["name"] == f"machineLearningRuns/{name}"
        assert run["displayName"] == f"name: {name}"
    listed = every_run.http.get("/machineLearningRuns", params={"orderBy": "name"}).json()
    names = [
        run["name"].removeprefix("machineLearningRuns/") for run in listed["machineLearningRuns"]
    ]
    assert names == sorted(NAMES, key=str.encode)


def test_lists_by_name_walk_over_strange_names(every_run: Api) -> None:
    seen: list[str] = []
    token = ""
    while not seen or token:
        page = every_run.http.get(
            "/machineLearningRuns",
            params={"pageSize": 3, "pageToken": token, "orderBy": "displayName desc"},
        ).json()
        seen += [run["displayName"] for run in page["machineLearningRuns"]]
        token = page["nextPageToken"]
    assert seen == sorted((f"name: {name}" for name in NAMES), key=str.encode, reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_sessions_and_hosts_keep_their_names(api: Api, name: str) -> None:
    create_run(api, name)
    # A file's name is the host and an ending, and has a limit of its own.
    host = name[:190]
    folder = write_profile(api, name, host, log_directory=name)
    session = attach(api, name, folder).json()
    assert session["name"] == f"machineLearningRuns/{name}/profilerSessions/{name}"
    assert session["storageFolderUri"] == str(folder)
    read = api.http.get(session_path(name, name)).json()
    assert [entry["host"] for entry in read["hosts"]] == [host]
    link = api.http.post(f"{session_path(name, name)}/shareLinks", json={}).json()
    assert link["session"] == session["name"]
    assert api.http.delete(session_path(name, name)).status_code == 200
    assert api.http.delete(run_path(name)).status_code == 200


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\nb", "\x00", "\x7f", "x" * 201])
def test_other_names_are_refused(api: Api, name: str) -> None:
    assert error_of(create_run(api, name)) == (400, "INVALID_ARGUMENT")
