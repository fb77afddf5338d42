"""What jobs tell of runs, and changes of parts of them, through the API on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpx2
import pytest

from server.registry.database import Database
from tests.attempts import begin_attempt
from tests.contract.api_calls import create_run, error_of, fields_of, new_session, run_path
from tests.services.api import Api


def patch(api: Api, mask: str, **body: object) -> httpx2.Response:
    return api.http.patch(run_path("r"), params={"updateMask": mask}, json=body)


def test_a_run_says_what_its_job_told(api: Api) -> None:
    told = {
        "tools": [{"name": "xprof", "port": 9999}],
        "workload": {"orchestrator": "GKE", "clusterId": "c1"},
        "storageRoot": "gs://bucket/runs",
    }
    run = create_run(api, "r", **told).json()
    assert {name: run[name] for name in told} == told
    assert (run["state"], run["attempts"]) == ("ACTIVE", [])
    assert run["sessionCount"] == 0
    assert run["lastSeenTime"] == run["createTime"]
    assert "endTime" not in run


def test_a_run_counts_its_sessions_and_lists_its_attempts(api: Api) -> None:
    new_session(api)
    database = Database(api.settings.resolved_database_url)
    start = datetime(2026, 1, 31, 12, tzinfo=UTC)
    begin_attempt(database, "r", {}, now=start)
    begin_attempt(database, "r", {}, now=start.replace(hour=13))
    database.close()
    create_run(api, "other")
    run = api.http.get(run_path("r")).json()
    assert run["sessionCount"] == 1
    assert run["attempts"] == [
        {
            "number": 1,
            "state": "LOST",
            "startTime": "2026-01-31T12:00:00Z",
            "endTime": "2026-01-31T13:00:00Z",
        },
        {"number": 2, "state": "ACTIVE", "startTime": "2026-01-31T13:00:00Z"},
    ]
    other, listed = api.http.get("/machineLearningRuns").json()["machineLearningRuns"]
    assert listed == run
    assert (other["sessionCount"], other["attempts"]) == (0, [])


def test_a_run_is_ended_and_opened_again(api: Api) -> None:
    before = datetime.now(UTC)
    first = create_run(api, "r").json()
    ended = patch(api, "state", state="COMPLETED").json()
    assert ended["state"] == "COMPLETED"
    assert before <= datetime.fromisoformat(ended["endTime"]) <= datetime.now(UTC)
    assert ended["etag"] != first["etag"]
    again = patch(api, "state", state="COMPLETED").json()
    assert again["endTime"] == ended["endTime"]
    opened = patch(api, "state", state="ACTIVE").json()
    assert opened["state"] == "ACTIVE"
    assert "endTime" not in opened
    assert fields_of(patch(api, "state", state="DONE")) == ["state"]


@pytest.mark.parametrize(
    ("word", "state"),
    [("STATE_SUCCEEDED", "COMPLETED"), ("STATE_FAILED", "FAILED"), ("STATE_RUNNING", "ACTIVE")],
)
def test_the_words_of_googles_sdk_change_the_state(api: Api, word: str, state: str) -> None:
    """As recorded from google-cloud-mldiagnostics 1.0.10, which says `allow_missing` beside it."""
    workload = {"workloadId": "w"}
    create_run(api, "r", workload=workload, state="FAILED")
    answer = api.http.patch(
        run_path("r"),
        params={"update_mask": "workload.state"},
        json={"name": "machineLearningRuns/r", "workload": {"state": word}},
    )
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["workload"]) == (state, workload)


def test_an_unknown_word_is_refused_by_name(api: Api) -> None:
    run = create_run(api, "r").json()
    answer = patch(api, "workload.state", workload={"state": "STATE_ODD"})
    assert fields_of(answer) == ["workload.state"]
    assert api.http.get(run_path("r")).json() == run


def test_parts_of_documents_are_changed_one_by_one(api: Api) -> None:
    create_run(
        api,
        "r",
        labels={"team": "a", "stage": "x"},
        configs={"userConfigs": {"batch": "64", "lr": "1"}, "software": {"jax": "1"}},
    )
    changed = patch(
        api,
        "labels.team,labels.stage,configs.userConfigs.batch",
        labels={"team": "b", "more": "ignored"},
        configs={"userConfigs": {"batch": "128", "lr": "ignored"}},
    ).json()
    assert changed["labels"] == {"team": "b"}
    assert changed["configs"] == {
        "userConfigs": {"batch": "128", "lr": "1"},
        "software": {"jax": "1"},
    }


def test_changes_of_different_parts_at_once_all_stay(api: Api) -> None:
    create_run(api, "r")

    def change(number: int) -> int:
        key = f"k{number}"
        return patch(api, f"labels.{key}", labels={key: "v"}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(change, range(16))) == [200] * 16
    labels = api.http.get(run_path("r")).json()["labels"]
    assert labels == {f"k{number}": "v" for number in range(16)}


def test_parts_do_not_add_up_to_what_is_not_allowed(api: Api) -> None:
    run = create_run(api, "r", labels={f"k{number}": "v" for number in range(64)}).json()
    answer = patch(api, "labels.more", labels={"more": "v"})
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == ["labels"]
    assert api.http.get(run_path("r")).json() == run


@pytest.mark.parametrize("mask", ["uid", "endTime", "displayName.x", "labels.", "nothing"])
def test_a_mask_of_something_else_is_refused(api: Api, mask: str) -> None:
    run = create_run(api, "r").json()
    assert fields_of(patch(api, mask, displayName="new")) == ["updateMask"]
    assert api.http.get(run_path("r")).json() == run


@pytest.mark.parametrize("mask", ["labels.a", "state", "*", ""])
def test_a_change_of_an_older_state_changes_nothing(api: Api, mask: str) -> None:
    old = create_run(api, "r", labels={"a": "1"}).json()["etag"]
    current = patch(api, "labels.a", labels={"a": "2"}).json()
    answer = patch(api, mask, labels={"a": "3"}, state="FAILED", etag=old)
    assert error_of(answer) == (409, "ABORTED")
    assert api.http.get(run_path("r")).json() == current


def test_a_run_that_is_read_can_be_sent_back_whole(api: Api) -> None:
    new_session(api)
    run = api.http.get(run_path("r")).json()
    changed = patch(api, "*", **run).json()
    for field in ("etag", "updateTime", "lastSeenTime"):
        assert changed.pop(field)
        run.pop(field)
    assert changed == run


def test_a_missing_run_is_made_if_that_is_wanted(api: Api) -> None:
    def change(**parameters: str) -> httpx2.Response:
        return api.http.patch(run_path("r"), params=parameters, json={"displayName": "new"})

    assert error_of(change()) == (404, "NOT_FOUND")
    made = change(allowMissing="true").json()
    assert (made["name"], made["displayName"]) == ("machineLearningRuns/r", "new")
    assert change(allow_missing="true").json()["uid"] == made["uid"]


@pytest.mark.parametrize("root", ["bucket/runs", "gs://", "s3://bucket", "relative"])
def test_a_storage_root_must_be_an_address(api: Api, root: str) -> None:
    answer = create_run(api, "r", storageRoot=root)
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    assert fields_of(answer) == ["storageRoot"]


def test_a_storage_root_ends_without_a_slash(api: Api) -> None:
    assert (
        create_run(api, "r", storageRoot="gs://bucket/a/").json()["storageRoot"] == "gs://bucket/a"
    )


def test_a_storage_root_that_can_not_be_read_is_kept_with_a_warning(api: Api) -> None:
    readable = f"{api.settings.storage_roots[0]}/runs"
    run = create_run(api, "r", storageRoot="gs://elsewhere/runs").json()
    assert run["storageRoot"] == "gs://elsewhere/runs"
    (warning,) = run["warnings"]
    assert "gs://elsewhere/runs" in warning
    assert "XPROF_HUB_STORAGE_ROOTS" in warning
    mended = patch(api, "storageRoot", storageRoot=readable).json()
    assert (mended["storageRoot"], mended["warnings"]) == (readable, [])
