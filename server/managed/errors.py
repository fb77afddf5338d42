"""Errors as Google's APIs answer them: `google.rpc.Status` as JSON, with typed details.

The SDK reads the body of a 409 with Python's `literal_eval`, so no value in it may be true, false or null:
texts, numbers, lists and objects only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from fastapi.responses import JSONResponse
from pydantic import ValidationError

from auth.tokens import redact
from server.http.error_table import CONFLICT, EXISTS, INVALID, retry_headers
from server.http.errors import ApiError, ErrorDetail
from server.registry.records import Json
from server.schemas import ApiModel

Model = TypeVar("Model", bound=ApiModel)

_RPC = "type.googleapis.com/google.rpc."
_SERVICE = "hypercomputecluster.googleapis.com"
RUN_TYPE = f"{_SERVICE}/MachineLearningRun"
SESSION_TYPE = f"{_SERVICE}/ProfilerSession"


def exists(kind: str, name: str, message: str) -> ApiError:
    """409 for a resource that is there already, with the name under which its client finds it.

    Args:
        kind: `RUN_TYPE` or `SESSION_TYPE`.
        name: its resource name.
        message: one sentence.
    """
    detail = {"@type": f"{_RPC}ResourceInfo", "resourceType": kind, "resourceName": name}
    return ApiError(EXISTS, message, [detail])


def changed_meanwhile() -> ApiError:
    """409 for an update whose etag names another state."""
    return ApiError(CONFLICT, "This was changed since you read it. Read it again, then change it.")


def checked(model: type[Model], values: Mapping[str, Json], names: Mapping[str, str]) -> Model:
    """Values after the rules of `/v1`, which has to be able to show them.

    Args:
        model: what `/v1` makes of them.
        values: its fields.
        names: what this API calls those that have another name here.

    Raises:
        ApiError: naming the fields at fault.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        details = []
        for problem in error.errors():
            first, *others = (str(part) for part in problem["loc"])
            description = problem["msg"].removeprefix("Value error, ")
            field = ".".join((names.get(first, first), *others))
            details.append({"field": field, "description": description})
        message = "; ".join(f"{one['field']}: {one['description']}" for one in details[:3])
        raise ApiError(INVALID, message, details) from error


def error_answer(error: ApiError) -> JSONResponse:
    """An error as Google's JSON."""
    status: dict[str, Json] = {
        "code": error.answer.http,
        "message": _sendable(error.message),
        "status": error.answer.status,
        "details": _typed(error.details),
    }
    headers = {"Cache-Control": "no-store", **retry_headers(error.answer), **error.headers}
    return JSONResponse({"error": status}, status_code=error.answer.http, headers=headers)


def _typed(details: Sequence[ErrorDetail]) -> list[Json]:
    """Details with the type that Google's clients look for."""
    fields: list[Json] = [
        {"field": _sendable(one["field"]), "description": _sendable(one.get("description", ""))}
        for one in details
        if "field" in one
    ]
    typed: list[Json] = [_detail(one) for one in details if "field" not in one]
    if fields:
        typed.append({"@type": f"{_RPC}BadRequest", "fieldViolations": fields})
    return typed


def _detail(detail: Mapping[str, str]) -> dict[str, Json]:
    clean: dict[str, Json] = {key: _sendable(value) for key, value in detail.items()}
    if "@type" in clean:
        return clean
    reason = clean.pop("reason", "")
    return {
        "@type": f"{_RPC}ErrorInfo",
        "reason": reason,
        "domain": "xprof-hub",
        "metadata": clean,
    }


def _sendable(text: str) -> str:
    return redact(text.encode(errors="replace").decode())
