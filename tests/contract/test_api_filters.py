"""Filtered lists through the API, on both databases. What filters mean is tested in tests/integration."""

from __future__ import annotations

import pytest

from tests.contract.api_calls import (
    attach,
    create_run,
    error_of,
    fields_of,
    run_path,
    write_profile,
)
from tests.services.api import Api


def listed(api: Api, text: str, path: str = "/machineLearningRuns") -> list[str]:
    answer = api.http.get(path, params={"filter": text, "orderBy": "name"})
    assert answer.status_code == 200, answer.text
    (found,) = (value for key, value in answer.json().items() if key != "nextPageToken")
    return [one["name"].rpartition("/")[2] for one in found]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('runSet = "llama"', ["a", "b"]),
        ("runSet = llama AND state = ACTIVE", ["a"]),
        ("state = FAILED OR labels.team = infra", ["b", "c"]),
        ("NOT labels:team", ["b"]),
        ("displayName = llama*", ["a", "b"]),
        ("configs.userConfigs.batch = 64", ["a"]),
        ("endTime:*", ["b"]),
        ("orchestrator = GKE", ["c"]),
        ("createTime > 2020-01-01 AND createTime < 2100-01-01", ["a", "b", "c"]),
        ("name = machineLearningRuns/b", ["b"]),
        ("", ["a", "b", "c"]),
    ],
)
def test_runs_are_filtered(api: Api, text: str, names: list[str]) -> None:
    create_run(
        api,
        "a",
        displayName="llama 8B",
        runSet="llama",
        labels={"team": "perf"},
        configs={"userConfigs": {"batch": "64"}},
    )
    create_run(api, "b", displayName="llama 70B", runSet="llama", state="FAILED")
    create_run(api, "c", labels={"team": "infra"}, workload={"orchestrator": "GKE"})
    assert listed(api, text) == names


def test_sessions_are_filtered(api: Api) -> None:
    create_run(api, "r")
    attach(api, "r", write_profile(api, "a"), kind="PROGRAMMATIC", targets={"vm-0": {}})
    attach(api, "r", write_profile(api, "b"), state="OPEN", expectedHosts=4)
    path = f"{run_path('r')}/profilerSessions"
    assert listed(api, "kind = PROGRAMMATIC", path) == ["a"]
    assert listed(api, "state = OPEN OR targets:vm-0", path) == ["a", "b"]
    assert listed(api, "createTime < 2020-01-01", path) == []
    assert listed(api, "expectedHosts > 3", path) == ["b"]
    assert listed(api, "NOT expectedHosts > 3", path) == ["a"]
    assert listed(api, "-expectedHosts:* AND -attempt:*", path) == ["a"]
    assert listed(api, "-state=OPEN", path) == ["a"]


def test_an_error_says_where_and_what(api: Api) -> None:
    answer = api.http.get("/machineLearningRuns", params={"filter": "runSet = "})
    assert error_of(answer) == (400, "INVALID_ARGUMENT")
    (detail,) = answer.json()["error"]["details"]
    assert (detail["field"], detail["position"]) == ("filter", "10")
    assert answer.json()["error"]["message"].startswith("filter: At character 10: Write a value")


def test_a_page_token_belongs_to_its_filter(api: Api) -> None:
    for name in ("a", "b", "c"):
        create_run(api, name, runSet="x")
    parameters = {"filter": "runSet = x", "pageSize": "2"}
    first = api.http.get("/machineLearningRuns", params=parameters).json()
    token = {"pageToken": first["nextPageToken"]}
    second = api.http.get("/machineLearningRuns", params={**parameters, **token}).json()
    assert len(first["machineLearningRuns"]) == 2
    assert len(second["machineLearningRuns"]) == 1
    other = api.http.get("/machineLearningRuns", params={**token, "filter": "runSet = y"})
    assert fields_of(other) == ["pageToken"]
