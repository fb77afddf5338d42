"""Changes of sessions through the API, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx2
import pytest

from server.registry.database import Database
from tests.attempts import begin_attempt
from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    fields_of,
    new_session,
    run_path,
    session_path,
    write_profile,
)
from tests.services.api import Api


def patch(api: Api, mask: str, **body: object) -> httpx2.Response:
    return api.http.patch(session_path("r", "s"), params={"updateMask": mask}, json=body)


def test_a_session_says_what_its_maker_told(api: Api) -> None:
    create_run(api, "r")
    told = {
        "kind": "PROGRAMMATIC",
        "state": "OPEN",
        "startTime": "2026-01-31T12:00:00Z",
        "endTime": "2026-01-31T12:00:05Z",
        "targets": {"vm-0": {"sessionPhase": "ACTIVE"}},
        "details": {"duration": "5s", "tracerLevels": {"host": 2}},
        "expectedHosts": 2,
    }
    session = attach(api, "r", write_profile(api, "s"), **told).json()
    assert {name: session[name] for name in told} == told
    assert "attempt" not in session
    read = api.http.get(session_path("r", "s")).json()
    assert {name: read[name] for name in told} == told


def test_a_session_is_attached_and_complete_unless_said_otherwise(api: Api) -> None:
    session = api.http.get(new_session(api)).json()
    assert (session["kind"], session["state"]) == ("ATTACHED", "COMPLETE")
    assert (session["targets"], session["details"]) == ({}, {})


@pytest.mark.parametrize("kind", ["SCANNED", "UPLOADED"])
def test_only_the_hub_says_that_it_found_a_session(api: Api, kind: str) -> None:
    create_run(api, "r")
    session = attach(api, "r", write_profile(api, "s"), kind=kind).json()
    assert session["kind"] == "ATTACHED"


def test_a_session_names_the_page_that_opens_it(api: Api) -> None:
    create_run(api, "my run")
    session = attach(api, "my run", write_profile(api, "s%1")).json()
    page = f"{api.url}/runs/my%20run/sessions/s%251/data/plugin/profile/"
    assert session["dashboardUri"] == page
    (listed,) = api.http.get(f"{run_path('my run')}/profilerSessions").json()["profilerSessions"]
    assert listed["dashboardUri"] == page


def test_a_session_is_changed_where_the_mask_says(api: Api) -> None:
    old = api.http.get(new_session(api)).json()
    changed = patch(
        api, "display_name,expectedHosts", displayName="x", expectedHosts=4, state="OPEN"
    )
    session = changed.json()
    assert (session["displayName"], session["expectedHosts"]) == ("x", 4)
    assert session["state"] == "COMPLETE"
    assert session["etag"] != old["etag"]
    assert session["storageFolderUri"] == old["storageFolderUri"]
    assert "expectedHosts" not in patch(api, "expectedHosts").json()


def test_targets_are_merged_host_by_host(api: Api) -> None:
    new_session(api)
    patch(api, "targets", targets={"vm-0": {"sessionPhase": "ACTIVE", "startTime": "t0"}})
    merged = patch(api, "targets", targets={"vm-0": {"sessionPhase": "DONE"}, "vm-1": {}}).json()
    assert merged["targets"] == {"vm-0": {"sessionPhase": "DONE", "startTime": "t0"}, "vm-1": {}}
    replaced = patch(api, "targets.vm-0", targets={"vm-0": {"x": 1}}).json()
    assert replaced["targets"] == {"vm-0": {"x": 1}, "vm-1": {}}
    assert patch(api, "targets.vm-1").json()["targets"] == {"vm-0": {"x": 1}}


def test_hosts_that_report_at_once_all_stay(api: Api) -> None:
    new_session(api)

    def report(number: int) -> int:
        return patch(api, "targets", targets={f"vm-{number}": {"n": number}}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(report, range(16))) == [200] * 16
    targets = api.http.get(session_path("r", "s")).json()["targets"]
    assert targets == {f"vm-{number}": {"n": number} for number in range(16)}


def test_a_change_of_an_older_state_changes_nothing(api: Api) -> None:
    path = new_session(api)
    old = api.http.get(path).headers["etag"]
    patch(api, "displayName", displayName="x")
    current = api.http.get(path).json()
    for headers, body in (({"If-Match": old}, {}), ({}, {"etag": old.strip('"')})):
        answer = api.http.patch(path, json={"displayName": "y", **body}, headers=headers)
        assert error_of(answer) == (409, "ABORTED")
    assert api.http.get(path).json() == current
    fresh = api.http.patch(
        path, json={"displayName": "y"}, headers={"If-Match": f'"{current["etag"]}"'}
    )
    assert fresh.json()["displayName"] == "y"


def test_a_session_that_is_read_can_be_sent_back_whole(api: Api) -> None:
    path = new_session(api)
    patch(api, "targets", targets={"vm-0": {"a": 1}})
    session = api.http.get(path).json()
    sent = {**session, "targets": {"vm-1": {}}}
    changed = patch(api, "*", **sent).json()
    assert changed["targets"] == {"vm-1": {}}
    assert changed["storageFolderUri"] == session["storageFolderUri"]


@pytest.mark.parametrize(
    ("mask", "body", "field"),
    [
        ("storageFolderUri", {"storageFolderUri": "/elsewhere"}, "updateMask"),
        ("kind", {"kind": "SCANNED"}, "updateMask"),
        ("displayName.x", {}, "updateMask"),
        ("state", {"state": "DONE"}, "state"),
        ("targets", {"targets": {"vm": 1}}, "targets.vm"),
        ("targets.vm.x", {"targets": {"vm": 1}}, "targets.vm"),
        ("expectedHosts", {"expectedHosts": 0}, "expectedHosts"),
        (
            "startTime,endTime",
            {"startTime": "2026-01-31T12:00:00Z", "endTime": "2026-01-31T11:00:00Z"},
            "endTime",
        ),
        ("displayName", {"name": "machineLearningRuns/r/profilerSessions/other"}, "name"),
    ],
)
def test_a_wrong_change_is_refused_by_name(
    api: Api, mask: str, body: dict[str, object], field: str
) -> None:
    path = new_session(api)
    before = api.http.get(path).json()
    answer = patch(api, mask, **body)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == [field]
    assert api.http.get(path).json() == before


def test_what_is_not_there_can_not_be_changed(api: Api) -> None:
    create_run(api, "r")
    assert error_of(patch(api, "displayName", displayName="x")) == (404, "NOT_FOUND")


def test_a_session_belongs_to_an_attempt_that_there_is(api: Api) -> None:
    create_run(api, "r")
    answer = attach(api, "r", write_profile(api, "s"), attempt=1)
    assert error_of(answer) == (404, "NOT_FOUND")
    assert api.http.get(f"{run_path('r')}/profilerSessions").json()["profilerSessions"] == []


def test_a_session_belongs_to_the_attempt_under_way_unless_another_is_named(api: Api) -> None:
    create_run(api, "r")
    database = Database(api.settings.resolved_database_url)
    for _ in range(2):
        begin_attempt(database, "r", {}, now=datetime.now(UTC))
    database.close()
    assert attach(api, "r", write_profile(api, "a")).json()["attempt"] == 2
    assert attach(api, "r", write_profile(api, "b"), attempt=1).json()["attempt"] == 1
    path = f"{run_path('r')}/profilerSessions"
    earlier = api.http.get(path, params={"filter": "attempt = 1"}).json()["profilerSessions"]
    assert [session["displayName"] for session in earlier] == ["b"]
    api.http.patch(run_path("r"), json={"state": "COMPLETED"})
    assert "attempt" not in attach(api, "r", write_profile(api, "c")).json()


def test_where_the_profile_is_must_be_said(api: Api) -> None:
    create_run(api, "r")
    answer = api.http.post(f"{run_path('r')}/profilerSessions", json={"displayName": "x"})
    assert fields_of(answer) == ["storageFolderUri"]
