"""Runs of the managed API: what is made, kept, changed and refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from server.registry.attempts import set_state
from server.registry.database import Database
from server.registry.records import RunState
from tests.contract.api_calls import create_run
from tests.contract.managed_calls import (
    JOB,
    PLACE,
    call,
    create,
    get,
    job_of,
    patch,
    resource_of,
    status_of,
)
from tests.services.api import Api

EXISTS = (409, "ALREADY_EXISTS")


def attempts(api: Api, run: str) -> list[str]:
    return [one["state"] for one in api.http.get(f"/machineLearningRuns/{run}").json()["attempts"]]


def names(answer: Any) -> list[str]:
    found = answer.json()["machineLearningRuns"]
    return sorted(run["name"].rpartition("/")[2] for run in found)


def test_a_run_is_told_as_it_was_made(api: Api) -> None:
    made = resource_of(create(api, "r", job_of("h0", configs={"userConfigs": {"a_b": "1"}})))
    run = get(api, "r")
    assert made == {"@type": made["@type"], **run}
    assert run["name"] == f"{PLACE}/machineLearningRuns/r"
    assert run["configs"] == {"userConfigs": {"a_b": "1"}}
    assert run["tools"] == [{"xprof": {}}]
    assert (run["orchestrator"], run["runPhase"], run["state"]) == (
        "CUSTOM",
        "ACTIVE",
        "STATE_ACTIVE",
    )
    assert run["workloadDetails"]["custom"] == {"id": "wl", "displayName": "wl"}
    assert run["workloadDetails"]["targets"] == [
        {"displayName": "h0", "hostname": "h0", "state": "RUNNING"}
    ]
    assert run["createTime"].endswith("Z")
    assert "endTime" not in run


def test_v1_shows_the_same_run(api: Api) -> None:
    create(api, "r", job_of("h0", errorDetails="none yet"))
    run = api.http.get("/machineLearningRuns/r").json()
    assert run["storageRoot"] == "gs://profiles/team"
    assert run["workload"]["orchestrator"] == "CUSTOM"
    assert (run["state"], len(run["attempts"])) == ("ACTIVE", 1)
    assert "XPROF_HUB_STORAGE_ROOTS" in run["warnings"][0]


def test_what_the_api_does_not_name_is_kept(api: Api) -> None:
    create(api, "r", {**JOB, "newField": {"some_key": [1, None]}, "runGroup": "g"})
    run = get(api, "r")
    assert run["newField"] == {"some_key": [1, None]}
    assert (run["runGroup"], run["runSet"]) == ("g", "g")
    patch(api, "r", {"displayName": "x"}, "display_name")
    assert get(api, "r")["newField"] == {"some_key": [1, None]}
    # A change of what has a place of its own in /v1 leaves the rest too.
    api.http.patch("/machineLearningRuns/r", json={"runSet": "h"})
    assert get(api, "r")["newField"] == {"some_key": [1, None]}


def test_xprofiler_registers_and_asks_once(api: Api) -> None:
    """As recorded from xprofiler 0.1.1, which can't be installed from a registry."""
    body = {
        "displayName": "My Run",
        "name": "My Run",
        "runSet": "set1",
        "artifacts": {"gcs_path": "gs://bkt/dir"},
        "state": "STATE_COMPLETED",
    }
    targets = set()
    for _ in range(2):
        operation = call(api, "POST", "machineLearningRuns", body).json()
        last = operation["name"].removeprefix(f"{PLACE}/")
        target = call(api, "GET", last).json()["metadata"]["target"]
        targets.add(target)
        run = get(api, target.rpartition("/")[2])
        assert run["name"].startswith(f"{PLACE}/machineLearningRuns/my-run-")
        assert (run["displayName"], run["runSet"]) == ("My Run", "set1")
        assert run["artifacts"] == {"gcsPath": "gs://bkt/dir"}
        assert run["state"] == "STATE_COMPLETED"
    assert len(targets) == 2


def test_ids_that_differ_in_case_and_punctuation_only_are_one(api: Api) -> None:
    assert resource_of(create(api, "My_Run"))["name"] == f"{PLACE}/machineLearningRuns/my-run"
    before = get(api, "my-run")
    answer = create(api, "my run!", {**JOB, "displayName": "other"})
    assert status_of(answer) == EXISTS
    assert "'my run!' is written 'my-run'" in answer.json()["error"]["message"]
    assert get(api, "my-run") == before
    assert attempts(api, "my-run") == []
    assert get(api, "My_Run") == before


@pytest.mark.parametrize("run", ["___", "é", "x" * 201])
def test_ids_of_which_nothing_is_left_are_refused(api: Api, run: str) -> None:
    answer = create(api, run)
    assert status_of(answer) == (400, "INVALID_ARGUMENT")
    [detail] = answer.json()["error"]["details"]
    assert detail["fieldViolations"][0]["field"] == "machine_learning_run_id"


def test_a_second_creation_changes_nothing_and_names_the_run(api: Api) -> None:
    create(api, "r")
    before = get(api, "r")
    answer = create(api, "r", {"displayName": "other", "runPhase": "FAILED"})
    assert status_of(answer) == EXISTS
    [detail] = answer.json()["error"]["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.ResourceInfo"
    assert detail["resourceName"] == f"{PLACE}/machineLearningRuns/r"
    assert get(api, "r") == before
    assert attempts(api, "r") == []


def test_hosts_join_an_attempt_until_one_comes_again(api: Api) -> None:
    create(api, "r", job_of("h0"))
    before = get(api, "r")
    assert status_of(create(api, "r", job_of("h1"))) == EXISTS
    assert attempts(api, "r") == ["ACTIVE"]
    assert get(api, "r") == before
    create(api, "r", job_of("h1"))
    assert attempts(api, "r") == ["LOST", "ACTIVE"]
    create(api, "r", job_of("h0"))
    assert attempts(api, "r") == ["LOST", "ACTIVE"]
    patch(api, "r", {"runPhase": "COMPLETED"}, "run_phase")
    assert get(api, "r")["state"] == "STATE_COMPLETED"
    create(api, "r", job_of("h2"))
    assert attempts(api, "r") == ["LOST", "COMPLETED", "ACTIVE"]
    assert get(api, "r")["runPhase"] == "ACTIVE"


def test_a_job_without_named_hosts_begins_an_attempt_each_time(api: Api) -> None:
    for _ in range(3):
        create(api, "r", {**JOB, "workloadDetails": {"gke": {"id": "job"}}})
    assert attempts(api, "r") == ["LOST", "LOST", "ACTIVE"]


def test_restarts_that_race_are_an_attempt_each(api: Api) -> None:
    create(api, "r", job_of("h"))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: create(api, "r", job_of("h")), range(8)))
    assert {answer.status_code for answer in answers} == {409}
    assert attempts(api, "r") == ["LOST"] * 8 + ["ACTIVE"]


def test_starts_of_a_new_run_that_race_are_an_attempt_each(api: Api) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: create(api, "r", job_of("h")), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7
    assert attempts(api, "r") == ["LOST"] * 7 + ["ACTIVE"]
    assert len(call(api, "GET", "machineLearningRuns").json()["machineLearningRuns"]) == 1


def test_hosts_of_one_job_add_themselves_all_at_once(api: Api) -> None:
    create(api, "r", job_of("h0"))

    def add(host: str) -> int:
        run = get(api, "r")
        run["workloadDetails"]["targets"].append({"display_name": host, "hostname": host})
        return patch(api, "r", run).status_code

    hosts = [f"h{number}" for number in range(1, 33)]
    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(add, hosts)) == {200}
    targets = get(api, "r")["workloadDetails"]["targets"]
    assert sorted(target["displayName"] for target in targets) == sorted(["h0", *hosts])


def test_a_target_without_a_name_gets_its_hosts(api: Api) -> None:
    body = {**JOB, "workloadDetails": {"targets": [{"hostname": "h0", "display_name": ""}]}}
    create(api, "r", body)
    assert get(api, "r")["workloadDetails"]["targets"][0]["displayName"] == "h0"


def test_an_outdated_etag_changes_nothing(api: Api) -> None:
    create(api, "r")
    first = get(api, "r")
    second = resource_of(patch(api, "r", {"displayName": "second"}, "displayName"))
    assert second["etag"] != first["etag"]
    answer = patch(api, "r", {**first, "displayName": "third"})
    assert status_of(answer) == (409, "ABORTED")
    assert get(api, "r")["displayName"] == "second"
    assert resource_of(patch(api, "r", {**get(api, "r"), "displayName": "third"}))[
        "displayName"
    ] == ("third")


@pytest.mark.parametrize("key", ["update_mask", "updateMask"])
def test_a_mask_says_what_is_changed(api: Api, key: str) -> None:
    create(api, "r", {**JOB, "runSet": "s"})
    body = {"display_name": "new", "run_set": "t", "runPhase": 2, "labels": {}}
    path = "machineLearningRuns/r"
    answer = call(api, "PATCH", path, body, **{key: "run_phase,displayName", "$alt": "json"})
    run = resource_of(answer)
    assert (run["displayName"], run["runSet"], run["runPhase"]) == ("new", "s", "COMPLETED")
    assert run["labels"] == {"created_by": "diagon_sdk"}


def test_a_lost_run_is_shown_as_failed_and_stays_lost(api: Api) -> None:
    create(api, "r", job_of("h0"))
    database = Database(api.settings.resolved_database_url)
    set_state(database, "r", RunState.LOST, now=datetime.now(UTC))
    database.close()
    run = get(api, "r")
    assert (run["runPhase"], run["state"]) == ("FAILED", "STATE_FAILED")
    resource_of(patch(api, "r", {**run, "displayName": "new"}))
    assert api.http.get("/machineLearningRuns/r").json()["state"] == "LOST"
    resource_of(patch(api, "r", {"runPhase": "ACTIVE"}, "run_phase"))
    assert api.http.get("/machineLearningRuns/r").json()["state"] == "ACTIVE"


def test_a_warning_about_a_place_goes_with_the_place(api: Api) -> None:
    create(api, "r", {**JOB, "artifacts": {"gcsPath": "gs://elsewhere/a"}})
    [warning] = api.http.get("/machineLearningRuns/r").json()["warnings"]
    assert "gs://elsewhere/a" in warning
    readable = api.settings.storage_roots[0]
    patch(api, "r", {"artifacts": {"gcsPath": readable}}, "artifacts")
    shown = api.http.get("/machineLearningRuns/r").json()
    assert (shown["storageRoot"], shown["warnings"]) == (readable, [])


def test_runs_lie_where_they_were_made(api: Api) -> None:
    other = "projects/p2/locations/us-central1"
    create(api, "mine")
    create(api, "theirs", place=other)
    create_run(api, "bare")
    path = "machineLearningRuns"
    assert names(call(api, "GET", path)) == ["mine"]
    assert names(call(api, "GET", path, place=other)) == ["theirs"]
    assert names(call(api, "GET", path, place="projects/-/locations/us-central1")) == [
        "mine",
        "theirs",
    ]
    assert names(call(api, "GET", path, place="projects/p1/locations/-")) == ["mine"]
    assert names(call(api, "GET", path, place="projects/-/locations/-")) == [
        "bare",
        "mine",
        "theirs",
    ]
    assert status_of(call(api, "GET", f"{path}/theirs")) == (404, "NOT_FOUND")
    bare = get(api, "bare", place="projects/-/locations/-")
    assert bare["name"] == "projects/-/locations/-/machineLearningRuns/bare"
    taken = create(api, "theirs")
    assert status_of(taken) == EXISTS
    assert "p2" not in taken.text
    assert status_of(create(api, "x", place="projects/-/locations/l"))[0] == 400


def test_filters_name_the_fields_of_this_api(api: Api) -> None:
    create(api, "a", {**JOB, "runSet": "s"})
    create(api, "b", {**JOB, "runPhase": "FAILED"})
    create(api, "c", {**JOB, "orchestrator": 2, "labels": {"team": "perf"}})
    database = Database(api.settings.resolved_database_url)
    set_state(database, "a", RunState.LOST, now=datetime.now(UTC))
    database.close()
    for text, wanted in {
        'run_phase="ACTIVE"': ["c"],
        "runPhase = FAILED": ["a", "b"],
        "state = STATE_FAILED AND run_set = s": ["a"],
        "NOT run_phase = FAILED": ["c"],
        'orchestrator = "GKE"': ["c"],
        "labels.team:*": ["c"],
        "": ["a", "b", "c"],
    }.items():
        assert names(call(api, "GET", "machineLearningRuns", filter=text)) == wanted, text
    refused = call(api, "GET", "machineLearningRuns", filter="runPhase = RUNNING")
    assert status_of(refused) == (400, "INVALID_ARGUMENT")


def test_pages_follow_each_other(api: Api) -> None:
    for number in range(5):
        create(api, f"r{number}")
    seen: list[str] = []
    token = ""
    for _ in range(3):
        query: dict[str, Any] = {"page_size": 2, "pageToken": token, "orderBy": "create_time"}
        page = call(api, "GET", "machineLearningRuns", **query).json()
        seen += [run["name"].rpartition("/")[2] for run in page["machineLearningRuns"]]
        token = page["nextPageToken"]
    assert seen == [f"r{number}" for number in range(5)]
    assert token == ""


def test_a_wrong_value_is_named(api: Api) -> None:
    for body, field in {
        "displayName": ({"displayName": 5}, "displayName"),
        "labels": ({"labels": {"a": 1}}, "labels.a"),
        "tools": ({"tools": "xprof"}, "tools"),
    }.values():
        answer = create(api, "r", body)
        assert status_of(answer) == (400, "INVALID_ARGUMENT")
        [detail] = answer.json()["error"]["details"]
        assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
        assert detail["fieldViolations"][0]["field"] == field
    assert status_of(call(api, "GET", "machineLearningRuns/r")) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"displayName": "x" * 501}, "displayName"),
        ({"runGroup": "a\nb"}, "runSet"),
        ({"runGroup": "x" * 501}, "runSet"),
        ({"artifacts": {"gcsPath": "gs://b/" + "x" * 500}}, "artifacts.gcsPath"),
        ({"artifacts": {"gcsPath": "gs://b/a\nb"}}, "artifacts.gcsPath"),
        ({"newField": "\x00"}, None),
        ({"labels": {"x" * 501: "1"}}, None),
    ],
)
def test_what_v1_could_not_show_is_refused(api: Api, fields: dict[str, Any], named: str) -> None:
    create(api, "there")
    for answer in (create(api, "r", {**JOB, **fields}), patch(api, "there", {**JOB, **fields})):
        assert status_of(answer) == (400, "INVALID_ARGUMENT")
        [detail] = answer.json()["error"]["details"]
        if named:
            assert [one["field"] for one in detail["fieldViolations"]] == [named]
    assert api.http.get("/machineLearningRuns").status_code == 200


def test_what_is_nested_as_deep_as_it_may_can_be_shown(api: Api) -> None:
    """What this API does not name lies a level deeper in /v1."""
    statuses = set()
    for depth in range(10, 20):
        value: Any = 1
        for _ in range(depth):
            value = [value]
        status = create(api, f"r{depth}", {**JOB, "newField": value}).status_code
        statuses.add(status)
        if status == 200:
            assert api.http.get(f"/machineLearningRuns/r{depth}").status_code == 200
    assert statuses == {200, 400}


@pytest.mark.parametrize("place", ["projects/%00/locations/l", "projects/p/locations/a%0Ab"])
def test_a_place_that_no_database_can_hold_is_refused(api: Api, place: str) -> None:
    assert status_of(create(api, "r", place=place)) == (400, "INVALID_ARGUMENT")
    for path in ("machineLearningRuns", "machineLearningRuns/r", "operations/o"):
        assert status_of(call(api, "GET", path, place=place)) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    "path", ["machineLearningRuns/%00", "operations/%00", "machineLearningRuns/a%2Fb"]
)
def test_odd_names_are_no_fault_of_ours(api: Api, path: str) -> None:
    assert call(api, "GET", path).status_code in {400, 404}
