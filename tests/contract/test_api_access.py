"""Who may call the API: tokens and roles, and what a development server does against foreign pages."""

from __future__ import annotations

import httpx2
import pytest

from auth.identity import Role
from auth.tokens import new_api_token
from tests.contract.api_calls import create_run, error_of, token_for
from tests.services.api import Api

SESSION = "/machineLearningRuns/r/profilerSessions/s"
CALLS = {
    ("GET", "/machineLearningRuns"): "viewer",
    ("GET", "/machineLearningRuns/r"): "viewer",
    ("GET", "/machineLearningRuns/r/profilerSessions"): "viewer",
    ("GET", "/machineLearningRuns/r/profilerSessions:mergeable"): "viewer",
    ("GET", SESSION): "viewer",
    ("GET", f"{SESSION}/health"): "viewer",
    ("PATCH", "/machineLearningRuns"): "job or editor",
    ("POST", "/machineLearningRuns"): "job or editor",
    ("PATCH", "/machineLearningRuns/r"): "editor",
    ("POST", "/machineLearningRuns:import"): "editor",
    ("POST", "/machineLearningRuns/r:scan"): "editor",
    ("DELETE", "/machineLearningRuns/r"): "editor",
    ("POST", "/machineLearningRuns/r/profilerSessions"): "job or editor",
    ("POST", "/machineLearningRuns/r/profilerSessions:merge"): "editor",
    ("POST", "/machineLearningRuns/r/shareLinks"): "editor",
    ("GET", "/machineLearningRuns/r/shareLinks"): "editor",
    ("PATCH", SESSION): "editor",
    ("DELETE", SESSION): "editor",
    ("POST", f"{SESSION}:cancelPrewarm"): "editor",
    ("PUT", f"{SESSION}/hosts/h"): "job or editor",
    ("POST", f"{SESSION}:completeUpload"): "job or editor",
    ("DELETE", f"{SESSION}/hosts/h"): "editor",
    ("GET", f"{SESSION}/comments"): "viewer",
    ("POST", f"{SESSION}/comments"): "viewer",
    ("GET", f"{SESSION}/comments/c"): "viewer",
    ("PATCH", f"{SESSION}/comments/c"): "viewer",
    ("DELETE", f"{SESSION}/comments/c"): "viewer",
    ("GET", f"{SESSION}/hosts/h:download"): "editor",
    ("POST", f"{SESSION}/shareLinks"): "editor",
    ("GET", f"{SESSION}/shareLinks"): "editor",
    ("GET", "/shareLinks"): "editor",
    ("GET", "/shareLinks/x"): "editor",
    ("PATCH", "/shareLinks/x"): "editor",
    ("DELETE", "/shareLinks/x"): "editor",
    ("GET", "/sharingRules"): "viewer",
    ("PATCH", "/sharingRules"): "admin",
    ("POST", "/apiTokens"): "admin",
    ("GET", "/apiTokens"): "admin",
    ("GET", "/apiTokens/x"): "admin",
    ("DELETE", "/apiTokens/x"): "admin",
    ("POST", "/members"): "admin",
    ("GET", "/members"): "admin",
    ("GET", "/members/x"): "admin",
    ("PATCH", "/members/x"): "admin",
    ("DELETE", "/members/x"): "admin",
    ("POST", "/machineLearningRuns/r:undelete"): "editor",
    ("POST", f"{SESSION}:undelete"): "editor",
    ("GET", "/runGroups"): "viewer",
    ("GET", "/runGroups/g"): "viewer",
    ("PATCH", "/runGroups/g"): "editor",
    ("GET", "/comparisons"): "viewer",
    ("GET", "/operations"): "viewer",
    ("GET", "/operations/x"): "viewer",
    ("GET", "/auditEvents"): "admin",
    ("GET", "/auditEvents:export"): "admin",
    ("GET", "/auditEvents/e"): "admin",
    ("GET", "/caller"): "anybody",
}
MAY = {
    "anybody": set(Role),
    "viewer": {Role.VIEWER, Role.EDITOR, Role.ADMIN},
    "editor": {Role.EDITOR, Role.ADMIN},
    "job or editor": {Role.INGEST, Role.EDITOR, Role.ADMIN},
    "admin": {Role.ADMIN},
}


def call(api: Api, method: str, path: str, **headers: str) -> httpx2.Response:
    body: dict[str, str] | None = {} if method in {"POST", "PATCH"} else None
    return api.http.request(method, path, headers=headers, json=body)


@pytest.mark.parametrize("role", list(Role))
def test_each_role_gets_through_where_it_may(guarded_api: Api, role: Role) -> None:
    _, secret = token_for(guarded_api, role)
    for (method, path), who in CALLS.items():
        answer = call(guarded_api, method, path, Authorization=f"Bearer {secret}")
        forbidden = role not in MAY[who]
        assert (answer.status_code == 403) == forbidden, (method, path, answer.text)
        assert answer.status_code != 401


def test_every_route_of_the_api_is_in_the_table(api: Api) -> None:
    paths = httpx2.get(f"{api.url}/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path in paths for method in paths[path]}
    described = {
        (
            method,
            "/v1"
            + path.replace("Runs/r", "Runs/{run}")
            .replace("Sessions/s", "Sessions/{session}")
            .replace("hosts/h", "hosts/{host}")
            .replace("comments/c", "comments/{comment}")
            .replace("shareLinks/x", "shareLinks/{link}")
            .replace("apiTokens/x", "apiTokens/{token}")
            .replace("members/x", "members/{member}")
            .replace("auditEvents/e", "auditEvents/{event}")
            .replace("runGroups/g", "runGroups/{group}")
            .replace("operations/x", "operations/{operation}"),
        )
        for method, path in CALLS
    }
    assert routes == described


def test_without_a_working_token_all_answers_are_the_same(guarded_api: Api) -> None:
    token_id, revoked = token_for(guarded_api, Role.ADMIN)
    _, admin = token_for(guarded_api, Role.ADMIN)
    guarded_api.http.delete(f"/apiTokens/{token_id}", headers={"Authorization": f"Bearer {admin}"})
    credentials = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {new_api_token()}"},
        {"Authorization": f"Bearer {revoked}"},
        {"Authorization": f"Basic {admin}"},
        {"Authorization": "Bearer %FF"},
    ]
    for method, path in CALLS:
        answers = [call(guarded_api, method, path, **headers) for headers in credentials]
        for answer in answers:
            assert error_of(answer) == (401, "UNAUTHENTICATED")
            assert answer.headers["www-authenticate"] == 'Bearer realm="xprof-hub"'
        assert len({answer.text for answer in answers}) == 1


def test_a_stranger_is_refused_before_anything_is_read(guarded_api: Api) -> None:
    for content in (b"{", b"x" * (2 << 20)):
        answer = guarded_api.http.post("/machineLearningRuns", content=content)
        assert error_of(answer) == (401, "UNAUTHENTICATED")


def test_makers_are_named(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.EDITOR)
    guarded_api.http.headers["Authorization"] = f"Bearer {secret}"
    assert create_run(guarded_api, "r").json()["creator"] == "editor"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9", "[::1]:8080", "LOCALHOST:80"])
def test_a_development_server_answers_to_this_machines_names(api: Api, host: str) -> None:
    assert call(api, "GET", "/machineLearningRuns", Host=host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "[::1", "10.0.0.1"]
)
def test_a_development_server_answers_to_no_other_name(api: Api, host: str) -> None:
    answer = call(api, "GET", "/machineLearningRuns", Host=host)
    assert error_of(answer) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(api: Api, headers: dict[str, str]) -> None:
    answer = api.http.post("/machineLearningRuns", json={}, headers=headers)
    assert error_of(answer) == (403, "PERMISSION_DENIED")
    assert api.http.get("/machineLearningRuns").json()["machineLearningRuns"] == []


def test_our_own_pages_may_change_things(api: Api) -> None:
    headers = {"Origin": api.url, "Sec-Fetch-Site": "same-origin"}
    assert api.http.post("/machineLearningRuns", json={}, headers=headers).status_code == 200
