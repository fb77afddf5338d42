"""Short ways to call the managed API in tests."""

from __future__ import annotations

from typing import Any

import httpx2

from tests.services.api import Api

PLACE = "projects/p1/locations/us-central1"
JOB: dict[str, Any] = {
    "displayName": "exp Demo_1",
    "labels": {"created_by": "diagon_sdk"},
    "runPhase": "ACTIVE",
    "tools": [{"xprof": {}}],
    "orchestrator": "CUSTOM",
    "artifacts": {"gcsPath": "gs://profiles/team"},
}
"""What the SDK says of a run, without its hosts."""


def call(
    api: Api, method: str, path: str, body: object = None, place: str = PLACE, **query: str | int
) -> httpx2.Response:
    """Calls the managed API; `path` is relative to a location."""
    url = f"{api.url}/v1alpha/{place}/{path}"
    headers = dict(api.http.headers)
    return httpx2.request(method, url, json=body, params=query or None, headers=headers)


def job_of(*hosts: str, **fields: object) -> dict[str, Any]:
    """A job as these hosts of it register it."""
    targets = [{"display_name": host, "hostname": host, "state": "RUNNING"} for host in hosts]
    details = {"custom": {"id": "wl", "display_name": "wl"}, "targets": targets}
    return {**JOB, "workloadDetails": details, **fields}


def create(api: Api, run: str, body: object = None, place: str = PLACE) -> httpx2.Response:
    """Asks for a run of this id."""
    path = "machineLearningRuns"
    given = {**JOB, "labels": {}} if body is None else body
    return call(api, "POST", path, given, place, machine_learning_run_id=run)


def get(api: Api, run: str, place: str = PLACE) -> dict[str, Any]:
    """A run that is there."""
    answer = call(api, "GET", f"machineLearningRuns/{run}", place=place)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def patch(api: Api, run: str, body: object, mask: str = "*") -> httpx2.Response:
    """Changes a run."""
    return call(api, "PATCH", f"machineLearningRuns/{run}", body, update_mask=mask)


def resource_of(answer: httpx2.Response) -> dict[str, Any]:
    """The resource in an operation that is done."""
    assert answer.status_code == 200, answer.text
    operation: dict[str, Any] = answer.json()
    assert operation["done"] is True
    response: dict[str, Any] = operation["response"]
    return response


def status_of(answer: httpx2.Response) -> tuple[int, str]:
    """Code and status of an error, after checking that it is a `google.rpc.Status` with typed details."""
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "status", "details"}
    assert error["code"] == answer.status_code
    assert all(detail["@type"].startswith("type.googleapis.com/") for detail in error["details"])
    return error["code"], error["status"]
