"""Errors: one shape for all, one table for the loader's, and no word about the inside of the server."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from auth.tokens import new_link_token
from loader.errors import ErrorCode, LoaderError
from server.http.error_table import LOADER_ANSWERS
from server.http.errors import install_error_handlers
from server.http.limited_body import MAX_BODY_BYTES
from tests.contract.api_calls import create_run, error_of
from tests.services.api import Api

EXPECTED = {
    ErrorCode.INVALID_REQUEST: (400, "INVALID_ARGUMENT", False),
    ErrorCode.NOT_FOUND: (404, "NOT_FOUND", False),
    ErrorCode.BUCKET_NOT_FOUND: (404, "NOT_FOUND", False),
    ErrorCode.PERMISSION_DENIED: (403, "PERMISSION_DENIED", False),
    ErrorCode.STORAGE_UNAVAILABLE: (503, "UNAVAILABLE", True),
    ErrorCode.STORAGE_FULL: (507, "RESOURCE_EXHAUSTED", False),
    ErrorCode.SOURCE_CHANGED: (503, "UNAVAILABLE", True),
    ErrorCode.MALFORMED: (422, "FAILED_PRECONDITION", False),
    ErrorCode.TOO_LARGE: (413, "FAILED_PRECONDITION", False),
    ErrorCode.ENGINE_REFUSED: (422, "FAILED_PRECONDITION", False),
    ErrorCode.ENGINE_CRASHED: (422, "FAILED_PRECONDITION", False),
    ErrorCode.OUT_OF_MEMORY: (507, "RESOURCE_EXHAUSTED", False),
    ErrorCode.TIMED_OUT: (504, "DEADLINE_EXCEEDED", False),
    ErrorCode.NEEDS_LARGER_WORKER: (507, "RESOURCE_EXHAUSTED", False),
    ErrorCode.INCOMPLETE: (422, "FAILED_PRECONDITION", True),
    ErrorCode.CANCELLED: (409, "ABORTED", False),
    ErrorCode.BUSY: (503, "UNAVAILABLE", True),
    ErrorCode.WORKER_FULL: (503, "UNAVAILABLE", True),
    ErrorCode.INTERNAL: (500, "INTERNAL", False),
}


def failing(error: Exception) -> TestClient:
    """A client of an application whose only route fails with this error."""
    app = FastAPI()
    install_error_handlers(app, {})

    @app.get("/")
    def fail() -> None:
        raise error

    return TestClient(app, raise_server_exceptions=False)


def test_every_error_of_the_loader_has_an_answer() -> None:
    assert set(LOADER_ANSWERS) == set(ErrorCode) == set(EXPECTED)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_an_error_of_the_loader_names_reason_and_file(code: ErrorCode) -> None:
    answer = failing(LoaderError(code, "It ends too early.", "vm.xplane.pb")).get("/")
    status, name, retry = EXPECTED[code]
    assert answer.status_code == status
    assert answer.json() == {
        "error": {
            "code": status,
            "status": name,
            "message": "It ends too early.",
            "details": [{"reason": code.value, "file": "vm.xplane.pb"}],
        }
    }
    assert ("retry-after" in answer.headers) == retry


def test_a_fault_says_nothing_of_the_inside() -> None:
    answer = failing(RuntimeError(f"/srv/secret/{new_link_token()}")).get("/")
    assert answer.status_code == 500
    assert answer.json()["error"]["status"] == "INTERNAL"
    for word in ("secret", "RuntimeError", "Traceback", "xph_"):
        assert word not in answer.text


def test_tokens_are_taken_out_of_messages_and_details() -> None:
    token = new_link_token()
    error = LoaderError(ErrorCode.NOT_FOUND, f"No {token}.", f"{token}.xplane.pb")
    text = failing(error).get("/").text
    assert token[4:] not in text
    assert "xph_\u2026" in text


@pytest.mark.parametrize(
    ("method", "path", "code", "status"),
    [
        ("GET", "/nothing", 404, "NOT_FOUND"),
        ("GET", "/machineLearningRuns/r/other", 404, "NOT_FOUND"),
        ("PUT", "/machineLearningRuns", 405, "UNIMPLEMENTED"),
        ("POST", "/machineLearningRuns/r", 405, "UNIMPLEMENTED"),
        ("GET", "/machineLearningRuns/unknown", 404, "NOT_FOUND"),
        ("GET", "/machineLearningRuns/%00", 400, "INVALID_ARGUMENT"),
        ("GET", "/machineLearningRuns/%0A", 400, "INVALID_ARGUMENT"),
        ("GET", "/machineLearningRuns/a%2Fb", 404, "NOT_FOUND"),
        ("GET", "/machineLearningRuns/%FF", 404, "NOT_FOUND"),
        ("GET", f"/machineLearningRuns/{'x' * 201}", 400, "INVALID_ARGUMENT"),
        ("GET", "/shareLinks/%00", 400, "INVALID_ARGUMENT"),
    ],
)
def test_wrong_addresses_answer_in_the_same_shape(
    api: Api, method: str, path: str, code: int, status: str
) -> None:
    assert error_of(api.http.request(method, path)) == (code, status)


def test_a_large_body_is_refused_with_and_without_a_length(api: Api) -> None:
    large = b'{"displayName": "' + b"x" * MAX_BODY_BYTES + b'"}'
    headers = {"Content-Type": "application/json"}
    pieces = (large[start : start + 65536] for start in range(0, len(large), 65536))
    for content in (large, pieces):
        answer = api.http.post("/machineLearningRuns", content=content, headers=headers)
        assert error_of(answer) == (413, "INVALID_ARGUMENT")


def test_a_body_just_within_the_limit_is_read(api: Api) -> None:
    text = "x" * (MAX_BODY_BYTES - 100)
    assert create_run(api, "r", configs={"notes": text}).status_code == 200
