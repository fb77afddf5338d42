"""Sessions, hosts, events and operations of the managed API."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from server.registry.database import Database
from server.registry.operations import add_operation
from tests.contract.api_calls import PROFILE
from tests.contract.managed_calls import (
    JOB,
    PLACE,
    call,
    create,
    get,
    job_of,
    resource_of,
    status_of,
)
from tests.services.api import Api

SESSIONS = "machineLearningRuns/r/profilerSessions"
ID = "20261130_011639_472694"
NOT_YET = "0001-01-01T00:00:00Z"


def report(host: str, phase: str, start: str, end: str = NOT_YET) -> dict[str, Any]:
    """What the SDK sends of one host, at the start and at the end alike."""
    return {
        "profilerTargets": [host],
        "targetSessions": {host: {"startTime": start, "sessionPhase": phase, "endTime": end}},
        "storageFolderUri": f"gs://profiles/team/{ID}",
        "dashboardUri": "",
        "duration": "0.001s",
        "kind": "KIND_PROGRAMMATIC",
        "hostTracerLevel": "HOST_TRACER_LEVEL_INFO",
        "deviceTracerLevel": "DEVICE_TRACER_LEVEL_ENABLED",
        "pythonTracerLevel": "PYTHON_TRACER_LEVEL_DISABLED",
    }


def begin(api: Api, host: str, start: str = "2026-11-30T01:16:39Z") -> httpx2.Response:
    return call(api, "POST", SESSIONS, report(host, "ACTIVE", start), profiler_session_id=ID)


def tell(api: Api, body: dict[str, Any], mask: str = "target_sessions") -> httpx2.Response:
    return call(api, "PATCH", f"{SESSIONS}/{ID}", body, update_mask=mask)


def session_of(api: Api) -> dict[str, Any]:
    answer = call(api, "GET", f"{SESSIONS}/{ID}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_session_is_registered_before_its_files_are_there(api: Api) -> None:
    create(api, "r", job_of("h0"))
    made = resource_of(begin(api, "h0"))
    session = session_of(api)
    assert made == {"@type": made["@type"], **session}
    assert session["name"] == f"{PLACE}/{SESSIONS}/{ID}"
    # Where JAX writes, not what the SDK sent.
    assert session["storageFolderUri"] == f"gs://profiles/team/r/plugins/profile/{ID}"
    assert session["dashboardUri"] == f"{api.url}/runs/r/sessions/{ID}/data/plugin/profile/"
    assert session["kind"] == "KIND_PROGRAMMATIC"
    assert session["profilerTargets"] == ["h0"]
    shown = api.http.get(f"/{SESSIONS}/{ID}").json()
    assert (shown["kind"], shown["state"], shown["attempt"]) == ("PROGRAMMATIC", "OPEN", 1)
    assert shown["startTime"] == "2026-11-30T01:16:39Z"
    assert "endTime" not in shown
    assert shown["hosts"] == []
    assert shown["problem"]


def test_the_files_are_found_once_they_are_there(api: Api) -> None:
    root = api.settings.storage_roots[0]
    create(api, "r", {**JOB, "artifacts": {"gcsPath": f"{root}/"}})
    begin(api, "h0")
    assert "is still uploading" in api.http.get(f"/{SESSIONS}/{ID}").json()["problem"]
    folder = Path(root) / "r" / "plugins" / "profile" / ID
    folder.mkdir(parents=True)
    (folder / "h0.xplane.pb").write_bytes(PROFILE)
    shown = api.http.get(f"/{SESSIONS}/{ID}").json()
    assert [host["host"] for host in shown["hosts"]] == ["h0"]


def test_a_second_host_is_told_where_to_add_itself_and_does(api: Api) -> None:
    create(api, "r", job_of("h0", "h1"))
    begin(api, "h0", "2026-11-30T01:16:39Z")
    answer = begin(api, "h1", "2026-11-30T01:16:38Z")
    assert status_of(answer) == (409, "ALREADY_EXISTS")
    # The SDK reads the body as Python, which knows no true, false and null.
    error = ast.literal_eval(answer.text)["error"]
    [name] = [detail["resourceName"] for detail in error["details"]]
    assert name == f"{PLACE}/{SESSIONS}/{ID}"
    resource_of(tell(api, report("h1", "ACTIVE", "2026-11-30T01:16:38Z")))
    assert session_of(api)["profilerTargets"] == ["h0", "h1"]
    resource_of(
        tell(api, report("h0", "SUCCEEDED", "2026-11-30T01:16:39Z", "2026-11-30T01:16:41Z"))
    )
    assert "endTime" not in api.http.get(f"/{SESSIONS}/{ID}").json()
    resource_of(tell(api, report("h1", "FAILED", "2026-11-30T01:16:38Z", "2026-11-30T01:16:40Z")))
    session = session_of(api)
    assert session["targetSessions"]["h0"]["sessionPhase"] == "SUCCEEDED"
    assert session["targetSessions"]["h1"]["sessionPhase"] == "FAILED"
    # From the first start to the last end.
    assert session["duration"] == "3.000s"
    shown = api.http.get(f"/{SESSIONS}/{ID}").json()
    assert (shown["startTime"], shown["endTime"]) == (
        "2026-11-30T01:16:38Z",
        "2026-11-30T01:16:41Z",
    )


def test_many_hosts_create_one_session_at_once(api: Api) -> None:
    create(api, "r", job_of("h0"))
    hosts = [f"h{number}" for number in range(32)]

    def join(host: str) -> int:
        status = begin(api, host).status_code
        if status == 409:
            status = tell(api, report(host, "ACTIVE", "2026-11-30T01:16:39Z")).status_code
        return status

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(join, hosts)) == {200}
    session = session_of(api)
    assert sorted(session["targetSessions"]) == sorted(hosts)
    assert sorted(session["profilerTargets"]) == sorted(hosts)
    assert len(call(api, "GET", SESSIONS).json()["profilerSessions"]) == 1


def test_reports_of_a_host_are_merged_in_either_spelling(api: Api) -> None:
    create(api, "r")
    begin(api, "h0")
    resource_of(tell(api, {"target_sessions": {"h0": {"session_phase": "SUCCEEDED"}}}, ""))
    told = session_of(api)["targetSessions"]["h0"]
    assert told["sessionPhase"] == "SUCCEEDED"
    assert told["startTime"] == "2026-11-30T01:16:39Z"


def test_the_mask_keeps_the_rest_as_it_is(api: Api) -> None:
    create(api, "r")
    begin(api, "h0")
    body = {
        **report("h0", "ACTIVE", "2026-11-30T01:16:39Z"),
        "kind": "KIND_ON_DEMAND",
        "duration": "9s",
    }
    resource_of(tell(api, body))
    assert session_of(api)["kind"] == "KIND_PROGRAMMATIC"
    assert session_of(api)["duration"] == "0.001s"
    before = session_of(api)
    resource_of(tell(api, body, "kind,duration"))
    assert (session_of(api)["kind"], session_of(api)["duration"]) == ("KIND_ON_DEMAND", "9s")
    outdated = tell(api, {**body, "etag": before["etag"]}, "duration")
    assert status_of(outdated) == (409, "ABORTED")


def test_a_session_needs_its_run_and_a_place(api: Api) -> None:
    assert status_of(begin(api, "h0")) == (404, "NOT_FOUND")
    create(api, "r", {"displayName": "no folder"})
    bare = call(api, "POST", SESSIONS, {"kind": 1}, profilerSessionId="s")
    assert status_of(bare) == (400, "FAILED_PRECONDITION")
    told = call(api, "POST", SESSIONS, {"storage_folder_uri": "gs://b/s/"}, profilerSessionId="s")
    assert resource_of(told)["storageFolderUri"] == "gs://b/s"
    wrong = call(api, "POST", SESSIONS, {"storageFolderUri": "gs://b/s"}, profilerSessionId="a/b")
    assert status_of(wrong) == (400, "INVALID_ARGUMENT")


def test_a_session_without_an_id_gets_the_time(api: Api) -> None:
    create(api, "r")
    made = resource_of(call(api, "POST", SESSIONS, {"kind": "KIND_ON_DEMAND"}))
    last = made["name"].rpartition("/")[2]
    assert datetime.strptime(last, "%Y%m%d_%H%M%S_%f").year >= 2026
    assert made["storageFolderUri"].endswith(f"/r/plugins/profile/{last}")


def test_hosts_are_the_runs_targets(api: Api) -> None:
    create(api, "r", job_of("h0", "h1"))
    found = call(api, "GET", "machineLearningRuns/r/profilerTargets").json()["profilerTargets"]
    assert found == [
        {
            "name": f"{PLACE}/machineLearningRuns/r/profilerTargets/{host}",
            "hostname": host,
            "nodeIndex": index,
            "isMaster": index == 0,
        }
        for index, host in enumerate(("h0", "h1"))
    ]
    assert call(api, "GET", "machineLearningRuns/r/profilerTargets/h1").json() == found[1]
    missing = call(api, "GET", "machineLearningRuns/r/profilerTargets/h2")
    assert status_of(missing) == (404, "NOT_FOUND")


def test_runs_with_sessions_are_deleted_by_force_only(api: Api) -> None:
    create(api, "r")
    begin(api, "h0")
    refused = call(api, "DELETE", "machineLearningRuns/r")
    assert status_of(refused) == (400, "FAILED_PRECONDITION")
    deleted = resource_of(call(api, "DELETE", "machineLearningRuns/r", force="true"))
    assert deleted == {"@type": "type.googleapis.com/google.protobuf.Empty"}
    assert status_of(call(api, "GET", "machineLearningRuns/r")) == (404, "NOT_FOUND")


def test_operations_tell_what_became_of_their_target(api: Api) -> None:
    name = create(api, "r").json()["name"]
    path = name.removeprefix(f"{PLACE}/")
    assert resource_of(call(api, "GET", path))["etag"] == get(api, "r")["etag"]
    assert call(api, "POST", f"{path}:wait").json() == call(api, "GET", path).json()
    assert call(api, "POST", f"{path}:cancel", {}).json() == {}
    assert status_of(call(api, "GET", path, place="projects/p2/locations/l")) == (404, "NOT_FOUND")
    call(api, "DELETE", "machineLearningRuns/r")
    gone = resource_of(call(api, "GET", path))
    assert gone["name"] == f"{PLACE}/machineLearningRuns/r"
    assert set(gone) == {"@type", "name"}
    assert call(api, "DELETE", path).json() == {}
    assert status_of(call(api, "GET", path)) == (404, "NOT_FOUND")
    assert status_of(call(api, "POST", f"{path}:cancel", {})) == (404, "NOT_FOUND")


def test_a_list_of_operations_names_their_targets(api: Api) -> None:
    """A thousand operations on large runs would else be gigabytes, and two queries each."""
    create(api, "r", job_of("h0"))
    begin(api, "h0")
    shown = call(api, "GET", "operations").json()["operations"]
    run = f"{PLACE}/machineLearningRuns/r"
    assert [one["metadata"]["target"] for one in shown] == [f"{PLACE}/{SESSIONS}/{ID}", run]
    kinds = [one["response"].pop("@type").rpartition(".")[2] for one in shown]
    assert kinds == ["ProfilerSession", "MachineLearningRun"]
    assert [one["response"] for one in shown] == [
        {"name": f"{PLACE}/{SESSIONS}/{ID}"},
        {"name": run},
    ]
    [session, _] = [one["name"].removeprefix(f"{PLACE}/") for one in shown]
    assert "targetSessions" in resource_of(call(api, "GET", session))


def test_operations_are_kept_a_day(api: Api) -> None:
    database = Database(api.settings.resolved_database_url)
    now = datetime.now(UTC)
    target = f"{PLACE}/machineLearningRuns/r"
    old, young = (
        add_operation(database, parent=PLACE, verb="create", target=target, now=now - age)
        for age in (timedelta(hours=25), timedelta(hours=23))
    )
    database.close()
    create(api, "r")
    assert call(api, "GET", f"operations/{old.id}").status_code == 404
    assert call(api, "GET", f"operations/{young.id}").status_code == 200
    assert len(call(api, "GET", "operations").json()["operations"]) == 2


def test_what_v1_could_not_show_of_a_session_is_refused(api: Api) -> None:
    create(api, "r", {**JOB, "artifacts": {"gcsPath": "gs://b/" + "x" * 480}})
    far = call(api, "POST", SESSIONS, {}, profilerSessionId="s")
    assert status_of(far) == (400, "INVALID_ARGUMENT")
    create(api, "r2")
    path = "machineLearningRuns/r2/profilerSessions"
    for body, field in (
        ({"targetSessions": {"h" * 501: {}}}, "targetSessions"),
        ({"targetSessions": {"h": 1}}, "targetSessions.h"),
    ):
        answer = call(api, "POST", path, body, profilerSessionId="s")
        assert status_of(answer) == (400, "INVALID_ARGUMENT")
        [detail] = answer.json()["error"]["details"]
        assert detail["fieldViolations"][0]["field"].startswith(field)
    assert api.http.get(f"/{path}").json()["profilerSessions"] == []
