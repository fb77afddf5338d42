"""How a job proves who it is, in a header or in its address, and how little its token opens."""

from __future__ import annotations

import base64

import httpx2
import pytest

from auth.identity import Role
from auth.tokens import new_api_token
from tests.contract.api_calls import attach, create_run, error_of, token_for, write_profile
from tests.services.api import Api

RUN = {"logicalId": "r", "displayName": "job"}
FORWARD = {"update_mask": "*", "allow_missing": "true"}
STATE = {"update_mask": "workload.state", "allow_missing": "false"}
ENDED = {"workload": {"state": "STATE_SUCCEEDED"}}


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def register(api: Api, authorization: str) -> httpx2.Response:
    headers = {"Authorization": authorization}
    return api.http.patch("/machineLearningRuns", params=FORWARD, json=RUN, headers=headers)


def by_path(
    api: Api, token: str, path: str = "/v1/machineLearningRuns", method: str = "PATCH"
) -> httpx2.Response:
    """A call whose only credential is in its address."""
    body = RUN if path.endswith("Runs") else ENDED
    params = FORWARD if path.endswith("Runs") else STATE
    url = f"{api.url}/ingest/{token}{path}"
    return httpx2.request(method, url, params=params, json=body if method != "GET" else None)


def display_names(api: Api) -> list[str]:
    _, viewer = token_for(api, Role.VIEWER)
    headers = {"Authorization": f"Bearer {viewer}"}
    found = api.http.get("/machineLearningRuns", headers=headers).json()["machineLearningRuns"]
    return [run["displayName"] for run in found]


@pytest.mark.parametrize("role", [Role.INGEST, Role.EDITOR, Role.ADMIN])
def test_a_token_is_taken_in_every_form(guarded_api: Api, role: Role) -> None:
    _, secret = token_for(guarded_api, role)
    assert register(guarded_api, f"Bearer {secret}").json()["attempt"] == 1
    assert register(guarded_api, basic("job", secret)).json()["attempt"] == 2
    assert register(guarded_api, basic("", secret)).json()["attempt"] == 3
    assert by_path(guarded_api, secret).json()["attempt"] == 4
    assert by_path(guarded_api, secret, "/v1/machineLearningRuns/r").status_code == 200
    assert display_names(guarded_api) == ["job"]


def test_the_creator_of_a_run_is_the_token(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.INGEST)
    by_path(guarded_api, secret)
    _, viewer = token_for(guarded_api, Role.VIEWER)
    headers = {"Authorization": f"Bearer {viewer}"}
    run = guarded_api.http.get("/machineLearningRuns/r", headers=headers).json()
    assert run["creator"] == "ingest"


def test_bad_credentials_are_the_one_thing_that_is_refused(guarded_api: Api) -> None:
    _, viewer = token_for(guarded_api, Role.VIEWER)
    token_id, revoked = token_for(guarded_api, Role.INGEST)
    _, admin = token_for(guarded_api, Role.ADMIN)
    guarded_api.http.delete(f"/apiTokens/{token_id}", headers={"Authorization": f"Bearer {admin}"})
    unknown = new_api_token()
    for secret in (unknown, revoked, "x", "%00", "%ff", "tok_abc"):
        assert by_path(guarded_api, secret).status_code == 401
    for header in (
        "",
        "Basic",
        "Basic !",
        "Basic " + base64.b64encode(admin.encode()).decode(),
        basic(admin, ""),
        basic("job", unknown),
        basic("job", revoked),
        basic(f"job:{admin}", "x"),
    ):
        assert error_of(register(guarded_api, header)) == (401, "UNAUTHENTICATED")
    assert register(guarded_api, f"Bearer {viewer}").status_code == 403
    assert by_path(guarded_api, viewer).status_code == 403
    assert display_names(guarded_api) == []


def test_a_good_header_does_not_open_a_path_with_a_bad_token(guarded_api: Api) -> None:
    _, admin = token_for(guarded_api, Role.ADMIN)
    url = f"{guarded_api.url}/ingest/{new_api_token()}/v1/machineLearningRuns"
    headers = {"Authorization": f"Bearer {admin}"}
    answer = httpx2.patch(url, params=FORWARD, json=RUN, headers=headers)
    assert answer.status_code == 401


@pytest.mark.parametrize("role", [Role.INGEST, Role.ADMIN])
def test_a_path_opens_only_what_a_job_needs(guarded_api: Api, role: Role) -> None:
    _, secret = token_for(guarded_api, role)
    assert by_path(guarded_api, secret).status_code == 200
    runs = "/v1/machineLearningRuns"
    for path in (runs, f"{runs}/r", f"{runs}/r/profilerSessions", f"{runs}/r/profilerSessions/s"):
        assert by_path(guarded_api, secret, path, "GET").status_code == 403
    for path in (f"{runs}/r", f"{runs}/r/profilerSessions/s"):
        assert by_path(guarded_api, secret, path, "DELETE").status_code == 403
    for path in (f"{runs}/r/shareLinks", f"{runs}/r/profilerSessions/s/shareLinks"):
        assert by_path(guarded_api, secret, path, "POST").status_code == 403
    for path in (
        "",
        "/",
        "/v1",
        "/v1/apiTokens",
        "/v1/shareLinks",
        "/v1/machineLearningRunsX",
        "/v1/../v1/apiTokens",
        "/healthz",
        "/metrics",
        "/docs",
        "/s/xph_x",
        "/ingest/x/v1/machineLearningRuns",
        f"/ingest/{secret}{runs}",
    ):
        for method in ("GET", "POST", "PATCH"):
            assert by_path(guarded_api, secret, path, method).status_code == 404, path
    assert httpx2.get(f"{guarded_api.url}/ingest").status_code == 404


def test_a_jobs_token_changes_no_more_of_a_run_than_its_state(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.INGEST)
    headers = {"Authorization": f"Bearer {secret}"}
    assert register(guarded_api, f"Bearer {secret}").is_success
    for mask in ("displayName", "*", "workload", "workload.state,displayName", "labels.a", ""):
        answer = guarded_api.http.patch(
            "/machineLearningRuns/r",
            params={"updateMask": mask, "allow_missing": "false"},
            json={"displayName": "x", "workload": {"state": "FAILED"}},
            headers=headers,
        )
        assert error_of(answer) == (403, "PERMISSION_DENIED"), mask
    answer = guarded_api.http.patch(
        "/machineLearningRuns/r", params=STATE, json=ENDED, headers=headers
    )
    assert answer.is_success
    # It says no more of the run than the job knows already.
    assert set(answer.json()) <= {"name", "clusterId", "warnings"}


def test_a_jobs_token_makes_runs_and_attaches_sessions(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.INGEST)
    folder = write_profile(guarded_api, "s")
    guarded_api.http.headers["Authorization"] = f"Bearer {secret}"
    assert create_run(guarded_api, "mine").status_code == 200
    assert attach(guarded_api, "mine", folder).status_code == 200
    assert create_run(guarded_api, "mine").status_code == 409


def test_a_browser_that_repeats_a_password_is_no_way_in(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.ADMIN)
    headers = {"Authorization": basic("me", secret), "Origin": "https://evil.example"}
    answer = guarded_api.http.post("/machineLearningRuns", json={}, headers=headers)
    assert error_of(answer) == (403, "PERMISSION_DENIED")
    assert display_names(guarded_api) == []


def test_a_development_server_takes_any_path_but_no_other_host(api: Api) -> None:
    assert by_path(api, "anything").json()["attempt"] == 1
    assert by_path(api, "anything", method="GET").status_code == 403
    url = f"{api.url}/ingest/x/v1/machineLearningRuns"
    answer = httpx2.patch(url, json=RUN, headers={"Host": "evil.example"})
    assert answer.status_code == 403
