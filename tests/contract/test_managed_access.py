"""Who may call the managed API: roles, jobs' tokens, and refusals in Google's shape."""

from __future__ import annotations

import httpx2
import pytest
from fastapi.routing import APIRoute

from auth.identity import Role
from server.managed.access import PREFIX
from server.routes import managed_children, managed_operations, managed_runs, managed_sessions
from tests.contract.api_calls import token_for
from tests.contract.managed_calls import PLACE, status_of
from tests.services.api import Api

READERS = {Role.VIEWER, Role.EDITOR, Role.ADMIN}
EVERYBODY = set(Role)
WRITERS = {Role.EDITOR, Role.ADMIN}
JOBS = WRITERS | {Role.INGEST}
RUN = "machineLearningRuns/{run}"
SESSION = f"{RUN}/profilerSessions/{{session}}"
CALLS = {
    ("POST", "machineLearningRuns"): JOBS,
    ("GET", "machineLearningRuns"): READERS,
    ("GET", RUN): EVERYBODY,
    ("PATCH", RUN): JOBS,
    ("DELETE", RUN): WRITERS,
    ("POST", f"{RUN}/profilerSessions"): JOBS,
    ("GET", f"{RUN}/profilerSessions"): READERS,
    ("GET", SESSION): READERS,
    ("PATCH", SESSION): JOBS,
    ("DELETE", SESSION): WRITERS,
    ("GET", f"{RUN}/profilerTargets"): READERS,
    ("GET", f"{RUN}/profilerTargets/{{target}}"): READERS,
    ("GET", f"{RUN}/monitoredEvents"): READERS,
    ("GET", f"{RUN}/monitoredEvents/{{event}}"): READERS,
    ("GET", "operations"): READERS,
    ("GET", "operations/{operation}"): EVERYBODY,
    ("POST", "operations/{operation}:wait"): EVERYBODY,
    ("POST", "operations/{operation}:cancel"): JOBS,
    ("DELETE", "operations/{operation}"): WRITERS,
}


def ask(api: Api, method: str, path: str, before: str = "", **headers: str) -> httpx2.Response:
    body: dict[str, str] | None = {} if method in {"POST", "PATCH"} else None
    url = f"{api.url}{before}/v1alpha/{PLACE}/{path.replace('{', '').replace('}', '')}"
    return httpx2.request(method, url, headers=headers, json=body)


def test_every_route_is_in_the_table() -> None:
    modules = (managed_runs, managed_sessions, managed_children, managed_operations)
    routes = [
        (method, route.path.removeprefix(f"{PREFIX}/"))
        for module in modules
        for route in module.router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    ]
    assert sorted(routes) == sorted(CALLS)


@pytest.mark.parametrize("role", list(Role))
def test_each_role_gets_through_where_it_may(guarded_api: Api, role: Role) -> None:
    _, secret = token_for(guarded_api, role)
    for (method, path), roles in CALLS.items():
        answer = ask(guarded_api, method, path, Authorization=f"Bearer {secret}")
        assert (answer.status_code == 403) == (role not in roles), (method, path, answer.text)
        if answer.status_code == 403:
            assert status_of(answer) == (403, "PERMISSION_DENIED")


def test_a_token_in_the_path_is_a_jobs_token_whatever_its_role(guarded_api: Api) -> None:
    _, secret = token_for(guarded_api, Role.ADMIN)
    for (method, path), roles in CALLS.items():
        answer = ask(guarded_api, method, path, f"/ingest/{secret}")
        assert (answer.status_code == 403) == (Role.INGEST not in roles), (method, path)
        assert secret not in answer.text


def test_strangers_get_googles_shape(guarded_api: Api) -> None:
    for method, path in CALLS:
        for headers in ({}, {"Authorization": "Bearer xpa_wrong"}):
            assert status_of(ask(guarded_api, method, path, **headers)) == (401, "UNAUTHENTICATED")


def test_a_page_of_another_site_changes_nothing(api: Api) -> None:
    answer = ask(api, "POST", "machineLearningRuns", Origin="https://evil.example")
    assert status_of(answer) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"a": NaN}', b'"x"'])
def test_what_is_no_message_is_refused(api: Api, content: bytes) -> None:
    url = f"{api.url}/v1alpha/{PLACE}/machineLearningRuns"
    headers = {"Content-Type": "application/json"}
    answer = httpx2.post(url, content=content, headers=headers)
    assert status_of(answer) == (400, "INVALID_ARGUMENT")
