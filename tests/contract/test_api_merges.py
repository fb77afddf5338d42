"""Merging sessions through the API: what is refused before any profile is read, and in which words."""

from __future__ import annotations

import httpx2
import pytest

from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    fields_of,
    run_path,
    session_path,
    write_profile,
)
from tests.services.api import Api


def merge(api: Api, run: str, *names: str, **body: object) -> httpx2.Response:
    path = f"{run_path(run)}/profilerSessions:merge"
    return api.http.post(path, json={"sessions": list(names), **body})


def message_of(answer: httpx2.Response) -> str:
    return str(answer.json()["error"]["message"])


@pytest.fixture
def merging(api: Api) -> Api:
    """An API with sessions `a` (host vm0), `b` (vm1) and `again` (vm0) in the run `r`."""
    create_run(api, "r")
    for session, host in (("a", "vm0"), ("b", "vm1"), ("again", "vm0")):
        assert attach(api, "r", write_profile(api, session, host)).status_code == 200
    return api


@pytest.mark.parametrize("names", [(), ("a",)])
def test_one_session_is_none_to_merge(merging: Api, names: tuple[str, ...]) -> None:
    answer = merge(merging, "r", *names)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == ["sessions"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a", "a"), "'a' is there twice"),
        (("a", "machineLearningRuns/r/profilerSessions/a"), "'a' is there twice"),
        (("a", "machineLearningRuns/other/profilerSessions/b"), "not a session of the run 'r'"),
        (("a", "x/y"), "not a session of the run 'r'"),
    ],
)
def test_wrong_names_are_refused(merging: Api, names: tuple[str, ...], said: str) -> None:
    answer = merge(merging, "r", *names)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == ["sessions"]
    assert said in message_of(answer)


def test_unknown_sessions_and_runs_are_not_found(merging: Api) -> None:
    answer = merge(merging, "r", "a", "nobody")
    assert error_of(answer) == (404, "NOT_FOUND")
    assert "'nobody'" in message_of(answer)
    assert error_of(merge(merging, "s", "a", "b")) == (404, "NOT_FOUND")
    path = f"{run_path('s')}/profilerSessions:mergeable"
    assert error_of(merging.http.get(path)) == (404, "NOT_FOUND")


def test_the_same_host_twice_is_never_merged(merging: Api) -> None:
    answer = merge(merging, "r", "a", "b", "again")
    assert error_of(answer) == (400, "FAILED_PRECONDITION")
    assert "Host 'vm0' is in more than one of these sessions (a, again)" in message_of(answer)
    assert answer.json()["error"]["details"] == [
        {"reason": "repeated_host", "description": "vm0 is in a, again"}
    ]


def test_a_session_without_files_is_named(merging: Api) -> None:
    folder = write_profile(merging, "c", "vm2")
    attach(merging, "r", folder)
    (folder / "vm2.xplane.pb").unlink()
    answer = merge(merging, "r", "a", "c")
    assert error_of(answer) == (404, "NOT_FOUND")
    assert message_of(answer).startswith("Session 'c': ")


def test_a_run_whose_sessions_have_one_host_offers_nothing_and_reads_nothing(api: Api) -> None:
    """There is no worker here that could read a profile."""
    create_run(api, "r")
    offers = f"{run_path('r')}/profilerSessions:mergeable"
    assert api.http.get(offers).json() == {"mergeOffers": []}
    for session in ("2026_01_31_12_00_00", "2026_01_31_12_00_01"):
        attach(api, "r", write_profile(api, session, "vm0"))
    attach(api, "r", write_profile(api, "2026_01_31_14_00_00", "vm1"))
    assert api.http.get(offers).json() == {"mergeOffers": []}


def test_without_a_worker_a_merge_is_not_guessed(merging: Api) -> None:
    assert error_of(merge(merging, "r", "a", "b")) == (503, "UNAVAILABLE")
    listed = merging.http.get(f"{run_path('r')}/profilerSessions").json()["profilerSessions"]
    assert len(listed) == 3


def test_a_session_says_how_many_hosts_were_found(merging: Api) -> None:
    session = merging.http.get(session_path("r", "a")).json()
    assert session["foundHosts"] == 1
    assert "expectedHosts" not in session
    assert "mergedFrom" not in session
    assert "storageFolderUris" not in session
