"""Registration as Google's SDK does it in self-hosted mode, and by clients that err: nothing is refused."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contract.api_calls import create_run
from tests.services.api import Api

RUNS = "/machineLearningRuns"
RECORDED = Path(__file__).parents[1] / "data" / "sdk_self_hosted.jsonl"
MASK = (
    "display_name,creator,cluster_id,workload.workload_id,workload.display_name,logical_id,"
    "base_blob_path,labels"
)


def recorded(scene: str) -> list[dict[str, Any]]:
    """What the SDK 1.0.10 sent in a scene, in order."""
    requests = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]
    return [request for request in requests if request["scene"] == scene]


def replay(api: Api, request: dict[str, Any]) -> httpx2.Response:
    url = f"{api.url}{request['path']}?{request['query']}"
    method, headers = request["method"], request["headers"]
    return httpx2.request(method, url, headers=headers, json=request["body"])


def register(api: Api, body: object, mask: str = MASK, **parameters: str) -> dict[str, Any]:
    """Registers; whatever the body is, the job goes on."""
    query = {"update_mask": mask, "allow_missing": "true", **parameters}
    answer = api.http.patch(RUNS, params=query, json=body)
    api.http.cookies.clear()
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def report(api: Api, run: str, state: str, cookie: str = "") -> httpx2.Response:
    return report_by(api.http, run, state, {"Cookie": cookie} if cookie else {})


def report_by(
    client: httpx2.Client, run: str, state: str, headers: dict[str, str] | None = None
) -> httpx2.Response:
    return client.patch(
        f"{RUNS}/{run}",
        params={"update_mask": "workload.state", "allow_missing": "false"},
        json={"name": f"machineLearningRuns/{run}", "workload": {"state": state}},
        headers=headers,
    )


def get(api: Api, run: str) -> dict[str, Any]:
    answer = api.http.get(f"{RUNS}/{run}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def states(api: Api, run: str) -> list[tuple[int, str]]:
    return [(one["number"], one["state"]) for one in get(api, run)["attempts"]]


@pytest.mark.parametrize(("scene", "state"), [("happy", "COMPLETED"), ("raise", "FAILED")])
def test_a_recorded_job_is_registered_and_ends(api: Api, scene: str, state: str) -> None:
    create, *_ = recorded(scene)
    run = create["body"]["logicalId"]
    answer = replay(api, create)
    # Processes other than the first use their logicalId as it is, so the run must have that id.
    assert answer.json()["name"] == f"machineLearningRuns/{run}"
    shown = get(api, run)
    assert shown["state"] == "ACTIVE"
    assert shown["displayName"] == "exp Demo_1"
    assert shown["storageRoot"] == "gs://profiles/team"
    assert shown["workload"] == {
        "creator": "CREATOR_MANUAL",
        "clusterId": "",
        "workloadId": "exp Demo_1",
        "displayName": "exp Demo_1",
    }
    assert report(api, run, f"STATE_{'SUCCEEDED' if scene == 'happy' else 'FAILED'}").is_success
    shown = get(api, run)
    assert shown["state"] == state
    assert shown["attempts"][0]["state"] == state
    assert shown["endTime"] == shown["attempts"][0]["endTime"]


def test_the_answer_of_an_end_is_what_the_client_reads(api: Api) -> None:
    create, end = recorded("mp_sameid")
    replay(api, create)
    answer = replay(api, end)
    assert answer.json() == {
        "name": f"machineLearningRuns/{create['body']['logicalId']}",
        "clusterId": "",
        "warnings": [],
    }


def test_a_client_that_was_told_of_a_conflict_goes_on_with_the_run(api: Api) -> None:
    create, running, _end = recorded("409")
    replay(api, create)
    assert replay(api, running).status_code == 200
    assert states(api, create["body"]["logicalId"]) == [(1, "ACTIVE")]


def test_a_job_with_credentials_everywhere_is_let_in_by_a_development_server(api: Api) -> None:
    create, _end = recorded("auth")
    assert create["path"].startswith("/ingest/")
    assert create["headers"]["authorization"].startswith("Basic ")
    assert replay(api, create).json()["attempt"] == 1


def test_the_cluster_that_a_job_names_comes_back(api: Api) -> None:
    answer = register(api, {"logicalId": "r", "clusterId": "c-1"})
    assert answer["clusterId"] == "c-1"
    assert get(api, "r")["workload"]["clusterId"] == "c-1"


def test_a_job_that_starts_again_keeps_its_history(api: Api) -> None:
    assert register(api, {"logicalId": "r", "displayName": "a"})["attempt"] == 1
    assert report(api, "r", "STATE_FAILED").is_success
    first = get(api, "r")["attempts"][0]
    assert register(api, {"logicalId": "r", "displayName": "a"})["attempt"] == 2
    assert states(api, "r") == [(1, "FAILED"), (2, "ACTIVE")]
    shown = get(api, "r")
    assert shown["attempts"][0] == first
    assert shown["state"] == "ACTIVE"
    assert "endTime" not in shown


def test_a_killed_attempt_is_lost_when_the_next_begins(api: Api) -> None:
    register(api, {"logicalId": "r"})
    register(api, {"logicalId": "r"})
    assert states(api, "r") == [(1, "LOST"), (2, "ACTIVE")]


def test_what_an_earlier_attempt_reports_late_is_its_own(api: Api) -> None:
    first = api.http.patch(RUNS, params={"allow_missing": "true"}, json={"logicalId": "r"})
    cookie = first.headers["set-cookie"].partition(";")[0]
    api.http.cookies.clear()
    register(api, {"logicalId": "r"})
    # The old pod ends while the new one runs already.
    assert report(api, "r", "STATE_FAILED", cookie).is_success
    assert states(api, "r") == [(1, "FAILED"), (2, "ACTIVE")]
    assert get(api, "r")["state"] == "ACTIVE"


def test_a_cookie_of_another_run_says_nothing(api: Api) -> None:
    other = api.http.patch(RUNS, params={"allow_missing": "true"}, json={"logicalId": "other"})
    cookie = other.headers["set-cookie"].partition(";")[0]
    api.http.cookies.clear()
    register(api, {"logicalId": "r"})
    register(api, {"logicalId": "r"})
    assert report(api, "r", "STATE_SUCCEEDED", cookie).is_success
    assert states(api, "r") == [(1, "LOST"), (2, "COMPLETED")]


def test_the_same_request_begins_one_attempt(api: Api) -> None:
    body = {"logicalId": "r"}
    assert register(api, body, requestId="start-1")["attempt"] == 1
    assert register(api, body, requestId="start-1")["attempt"] == 1
    assert register(api, body, request_id="start-2")["attempt"] == 2
    assert len(states(api, "r")) == 2


def test_the_same_request_at_once_begins_one_attempt(api: Api) -> None:
    def start(_number: int) -> int:
        asked = {"allow_missing": "true", "requestId": "start-1"}
        answer = httpx2.patch(f"{api.url}/v1{RUNS}", params=asked, json={"logicalId": "r"})
        attempt: int = answer.json()["attempt"]
        return attempt

    with ThreadPoolExecutor(8) as jobs:
        assert list(jobs.map(start, range(8))) == [1] * 8
    assert states(api, "r") == [(1, "ACTIVE")]


def test_a_repeated_start_of_a_run_that_was_deleted_is_not_lost(api: Api) -> None:
    body = {"logicalId": "r"}
    register(api, body, requestId="start-1")
    assert api.http.delete(f"{RUNS}/r").is_success
    assert register(api, body, requestId="start-1")["name"] == "machineLearningRuns/r"
    assert states(api, "r") == [(1, "ACTIVE")]


def test_starts_that_race_are_an_attempt_each_and_end_their_own(api: Api) -> None:
    def start_and_fail(_number: int) -> int:
        with httpx2.Client(base_url=f"{api.url}/v1") as job:
            body = {"logicalId": "r", "displayName": "a"}
            began = job.patch(RUNS, params={"allow_missing": "true"}, json=body)
            ended = report_by(job, "r", "STATE_FAILED")
        assert (began.status_code, ended.status_code) == (200, 200)
        attempt: int = began.json()["attempt"]
        return attempt

    with ThreadPoolExecutor(8) as jobs:
        numbers = sorted(jobs.map(start_and_fail, range(8)))
    assert numbers == list(range(1, 9))
    assert states(api, "r") == [(number, "FAILED") for number in numbers]
    assert len(api.http.get(RUNS).json()["machineLearningRuns"]) == 1


def test_running_opens_a_run_that_was_given_up(api: Api) -> None:
    register(api, {"logicalId": "r"})
    assert report(api, "r", "STATE_FAILED").is_success
    assert report(api, "r", "STATE_RUNNING").is_success
    assert states(api, "r") == [(1, "ACTIVE")]


def test_the_end_of_a_run_that_nobody_knows_is_not_found(api: Api) -> None:
    assert report(api, "r", "STATE_SUCCEEDED").status_code == 404


def test_a_run_that_a_person_made_is_taken_over(api: Api) -> None:
    create_run(api, "r", displayName="our best run", labels={"team": "perf"})
    register(api, {"logicalId": "r", "displayName": "job-17", "labels": {"step": 4}})
    shown = get(api, "r")
    assert shown["displayName"] == "our best run"
    assert shown["labels"] == {"team": "perf", "step": "4"}


def test_labels_of_many_attempts_do_not_add_up(api: Api) -> None:
    for attempt in range(2):
        labels = {f"{attempt}-{number}": "x" for number in range(50)}
        register(api, {"logicalId": "r", "labels": labels})
    kept = api.http.get(RUNS).json()["machineLearningRuns"][0]["labels"]
    assert len(kept) == 64
    assert labels.items() <= kept.items()


def test_a_job_renames_what_only_jobs_have_named(api: Api) -> None:
    register(api, {"logicalId": "r", "displayName": "a"})
    register(api, {"logicalId": "r", "displayName": "b"})
    assert get(api, "r")["displayName"] == "b"
    api.http.patch(f"{RUNS}/r", params={"updateMask": "displayName"}, json={"displayName": "mine"})
    register(api, {"logicalId": "r", "displayName": "c"})
    assert get(api, "r")["displayName"] == "mine"


def test_the_mask_says_what_changes_in_a_run_that_is_there(api: Api) -> None:
    register(api, {"logicalId": "r", "displayName": "a", "runSet": "first"}, "display_name")
    register(api, {"logicalId": "r", "displayName": "b", "runSet": "second"}, "display_name")
    shown = get(api, "r")
    assert (shown["displayName"], shown["runSet"]) == ("b", "first")


def test_what_a_later_client_may_send_has_its_place(api: Api) -> None:
    body = {
        "logical_id": "r",
        "run_group": "llama",
        "labels": {"framework": "jax"},
        "configs": {"userConfigs": {"batch": 64}},
        "tools": [{"xprof": {}}],
        "artifacts": {"gcsPath": "gs://b-1/p/"},
        "orchestrator": "GKE",
        "something_new": [1],
    }
    assert register(api, body, "*")["warnings"] != []
    shown = get(api, "r")
    assert shown["runSet"] == "llama"
    assert shown["labels"] == {"framework": "jax"}
    assert shown["configs"] == {"userConfigs": {"batch": 64}}
    assert shown["tools"] == [{"xprof": {}}]
    assert shown["storageRoot"] == "gs://b-1/p"
    assert shown["workload"] == {"orchestrator": "GKE", "somethingNew": [1]}


def test_where_the_job_writes_is_checked_in_words(api: Api) -> None:
    root = api.settings.storage_roots[0]
    assert register(api, {"logicalId": "r", "baseBlobPath": f"{root}/team"})["warnings"] == []
    (outside,) = register(api, {"logicalId": "r", "baseBlobPath": "gs://other-bucket/x"})[
        "warnings"
    ]
    assert "XPROF_HUB_STORAGE_ROOTS" in outside
    assert "gs://other-bucket/x" in outside
    shown = get(api, "r")
    assert shown["storageRoot"] == "gs://other-bucket/x"
    assert outside in shown["warnings"]
    moved = [text for text in shown["warnings"] if text != outside]
    assert len(moved) == 1 and f"{root}/team" in moved[0]
    # What is mended is not complained of any more.
    register(api, {"logicalId": "r", "baseBlobPath": f"{root}/team"})
    assert outside not in get(api, "r")["warnings"]


@pytest.mark.parametrize(
    "root", ["s3://bucket/x", "profiles", "gs://", "gs://Bad_Bucket!/x", "/outside/../etc"]
)
def test_an_odd_place_is_kept_with_a_warning(api: Api, root: str) -> None:
    (warning,) = register(api, {"logicalId": "r", "baseBlobPath": root})["warnings"]
    assert root in warning
    assert get(api, "r")["storageRoot"] == root.rstrip("/")


@pytest.mark.parametrize(
    "body",
    [
        {"logicalId": "r", "displayName": {"a": 1}},
        {"logicalId": "r", "displayName": "x\u0000y" * 300},
        {"logicalId": "r", "labels": [1, 2]},
        {"logicalId": "r", "labels": {'quo"te': "x", "ok": "y", "deep": {"a": 1}}},
        {"logicalId": "r", "configs": "text"},
        {"logicalId": "r", "tools": {"xprof": {}}},
        {"logicalId": "r", "workload": ["x"]},
        {"logicalId": "r", "workload": {"a": {"b" * 400: "\ud800"}}},
        {"logicalId": "r", "artifacts": None, "displayName": None},
        {"logicalId": "r", "baseBlobPath": 17},
        {"name": "machineLearningRuns/r"},
    ],
)
def test_odd_values_are_stored_as_far_as_they_can_be(api: Api, body: dict[str, Any]) -> None:
    query = {"update_mask": MASK, "allow_missing": "true"}
    answer = api.http.patch(RUNS, params=query, content=json.dumps(body))
    api.http.cookies.clear()
    assert answer.status_code == 200, answer.text
    assert answer.json()["name"] == "machineLearningRuns/r"
    assert states(api, "r") == [(1, "ACTIVE")]
    # The run can be read, changed and listed like any other.
    assert api.http.patch(f"{RUNS}/r", json={"runSet": "x"}).status_code == 200
    assert len(api.http.get(RUNS).json()["machineLearningRuns"]) == 1


@pytest.mark.parametrize("wanted", [None, "", "a/b", "..", "x" * 300, "line\nbreak", 17, {"a": 1}])
def test_an_id_that_can_be_none_is_mended_or_replaced(api: Api, wanted: object) -> None:
    answer = register(api, {"logicalId": wanted, "displayName": "odd"})
    run = answer["name"].removeprefix("machineLearningRuns/")
    assert get(api, run)["displayName"] == "odd"
    assert "logicalId" in answer["warnings"][0]
    assert get(api, run)["warnings"] == answer["warnings"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"a": 1' + b"0" * 9000]
)
def test_a_body_that_is_no_object_stores_nothing_and_ends_no_job(api: Api, content: bytes) -> None:
    answer = api.http.patch(RUNS, params={"allow_missing": "true"}, content=content)
    assert answer.status_code == 200
    assert "name" not in answer.json() or answer.json()["name"] == ""
    assert answer.json()["warnings"]
    assert api.http.get(RUNS).json()["machineLearningRuns"] == []


def test_the_limit_of_a_body_stays(api: Api) -> None:
    answer = api.http.patch(RUNS, content=b"x" * (2 << 20))
    assert answer.status_code == 413


def test_an_unknown_state_is_a_warning(api: Api) -> None:
    register(api, {"logicalId": "r"})
    answer = report(api, "r", "STATE_SUSPENDED")
    assert answer.is_success
    shown = get(api, "r")
    assert shown["state"] == "ACTIVE"
    assert shown["warnings"] == answer.json()["warnings"]


def test_other_changes_of_a_run_are_the_ordinary_ones(api: Api) -> None:
    register(api, {"logicalId": "r"})
    answer = api.http.patch(
        f"{RUNS}/r", params={"updateMask": "workload.state"}, json={"workload": {"state": "FAILED"}}
    )
    assert answer.json()["state"] == "FAILED"
    wrong = api.http.patch(
        f"{RUNS}/r", params={"update_mask": "workload.state"}, json={"workload": {"state": "X"}}
    )
    assert wrong.status_code == 400
