"""The OpenAPI document: what a client's author reads."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.services.api import Api


@pytest.fixture
def document(api: Api) -> dict[str, Any]:
    """The document as it is served."""
    found: dict[str, Any] = httpx2.get(f"{api.url}/openapi.json").json()
    return found


def example(schemas: dict[str, Any], name: str) -> dict[str, Any]:
    """The example of a body; a schema that differs for reading has one of its own for sending."""
    schema = schemas[name] if name in schemas else schemas[f"{name}-Input"]
    found: dict[str, Any] = schema["example"]
    return found


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    operations = [
        operation for methods in document["paths"].values() for operation in methods.values()
    ]
    assert len(operations) >= 18
    for operation in operations:
        assert operation["description"]
        assert operation["tags"]
        assert "401" in operation["responses"]
        assert "422" not in operation["responses"]


def test_bodies_have_examples_that_the_api_accepts(document: dict[str, Any], api: Api) -> None:
    schemas = document["components"]["schemas"]
    run = api.http.post(
        "/machineLearningRuns",
        params={"machineLearningRunId": "r"},
        json=example(schemas, "Run"),
    )
    assert run.status_code == 200
    token = api.http.post("/apiTokens", json=example(schemas, "NewToken"))
    assert token.status_code == 200
    # The session's example lies in a bucket that this test can't read, so it is refused for that alone.
    session = api.http.post(
        "/machineLearningRuns/r/profilerSessions", json=example(schemas, "Session")
    )
    assert session.status_code == 403
    assert example(schemas, "NewLink")["ttl"] == "7d"


def test_coming_back_for_an_answer_is_described(document: dict[str, Any]) -> None:
    health = "/v1/machineLearningRuns/{run}/profilerSessions/{session}/health"
    operation = document["paths"][health]["get"]
    (prefer,) = [one for one in operation["parameters"] if one["in"] == "header"]
    assert prefer["name"].lower() == "prefer"
    assert "respond-async" in prefer["description"]
    accepted = operation["responses"]["202"]
    assert "Retry-After" in accepted["headers"]
    assert accepted["content"]["application/json"]["schema"]["$ref"].endswith("/AnswerProgress")


def test_names_are_in_camel_case(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                assert "_" not in parameter["name"], (path, parameter["name"])
    for name, schema in document["components"]["schemas"].items():
        assert not any("_" in field for field in schema.get("properties", {})), name


def test_errors_have_a_schema(document: dict[str, Any]) -> None:
    error = document["components"]["schemas"]["Error"]
    assert set(error["properties"]) == {"code", "status", "message", "details"}
