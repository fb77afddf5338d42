"""Exceptions to HTTP answers: the one table, and the one shape of an error body (Google AIP-193).

No message leaves without passing `auth.tokens.redact`, and a fault of ours says nothing but that it happened:
the trace goes to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from auth.tokens import redact
from loader.errors import LoaderError
from loader.traces import current_trace
from server.http.error_table import (
    CONFLICT,
    EXISTS,
    INTERNAL,
    INVALID,
    NOT_FOUND,
    PASSING,
    PRECONDITION,
    SOON_SECONDS,
    UNAVAILABLE,
    ErrorAnswer,
    answer_of,
    retry_headers,
)
from server.registry.errors import RegistryError, RegistryProblem

ErrorDetail: TypeAlias = dict[str, str]

logger = logging.getLogger(__name__)


_REGISTRY_ANSWERS: Mapping[RegistryProblem, ErrorAnswer] = MappingProxyType(
    {
        RegistryProblem.NOT_FOUND: NOT_FOUND,
        RegistryProblem.ALREADY_EXISTS: EXISTS,
        RegistryProblem.ETAG_MISMATCH: CONFLICT,
        RegistryProblem.TOO_COSTLY: INVALID,
        RegistryProblem.NOT_EMPTY: PRECONDITION,
        RegistryProblem.FULL: PRECONDITION,
        RegistryProblem.LAST_ADMIN: PRECONDITION,
        RegistryProblem.HELD: CONFLICT,
    }
)

_HTTP_STATUS_NAMES: Mapping[int, str] = MappingProxyType(
    {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        405: "UNIMPLEMENTED",
        413: "INVALID_ARGUMENT",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    }
)


class ApiError(Exception):
    """A request that a route refuses.

    Attributes:
        answer: status to answer with.
        message: one sentence for a person.
        details: machine-readable particulars, such as the field at fault.
        headers: headers of the answer.
    """

    def __init__(
        self,
        answer: ErrorAnswer,
        message: str,
        details: Sequence[ErrorDetail] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.answer = answer
        self.message = message
        self.details = tuple(details)
        self.headers = dict(headers or {})


REFUSALS = (ApiError, LoaderError, RegistryError, RequestValidationError)
"""What `as_api_error` knows."""
DATABASE_AWAY = (OperationalError, InterfaceError, PoolTimeoutError)
"""What is raised when the database does not answer, or all connections to it are taken."""
NO_DATABASE = "The registry's database does not answer."
ALL_TAKEN = "All connections to the registry's database are in use."


def invalid_field(field: str, description: str) -> ApiError:
    """The error for a field or parameter whose value can't be used."""
    detail = {"field": field, "description": description}
    return ApiError(INVALID, f"{field}: {description}", [detail])


def error_response(
    answer: ErrorAnswer,
    message: str,
    details: Sequence[ErrorDetail] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error in the API's shape, without tokens."""
    body = {
        "code": answer.http,
        "status": answer.status,
        "message": _sendable(message),
        "details": [
            {key: _sendable(value) for key, value in detail.items()}
            for detail in (*details, *_request_id(answer))
        ],
    }
    sent = {"Cache-Control": "no-store", **retry_headers(answer), **(headers or {})}
    return JSONResponse({"error": body}, status_code=answer.http, headers=sent)


def _request_id(answer: ErrorAnswer) -> Sequence[ErrorDetail]:
    """What to name when reporting a fault; answers to what callers do wrong are the same for all."""
    trace = current_trace()
    return () if trace is None or answer.http < 500 else ({"requestId": trace.trace_id},)


def as_api_error(error: Exception) -> ApiError | None:
    """A refusal of any of our parts as the one kind that answers are made of; None for a fault."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, RegistryError):
        return ApiError(_REGISTRY_ANSWERS[error.problem], error.message)
    if isinstance(error, LoaderError):
        return ApiError(answer_of(error), error.message, loader_error_details(error))
    if isinstance(error, RequestValidationError):
        details = [_validation_detail(problem) for problem in error.errors()]
        message = "; ".join(f"{entry['field']}: {entry['description']}" for entry in details[:3])
        return ApiError(INVALID, message, details)
    return None


def _sendable(text: str) -> str:
    """A text without tokens, and without halves of characters, which a request's JSON may hold."""
    return redact(text.encode(errors="replace").decode())


def loader_error_details(error: LoaderError) -> list[ErrorDetail]:
    """What a program can read of a loader's error: the reason, and file and place in line if any."""
    detail = {"reason": error.code.value}
    if error.file is not None:
        detail["file"] = error.file
    if error.ahead is not None:
        detail["ahead"] = str(error.ahead)
    return [detail]


def install_error_handlers(app: FastAPI, fault_headers: Mapping[str, str]) -> None:
    """Makes every exception of an app answer in the API's shape.

    Args:
        app: whose routes raise them.
        fault_headers: headers of the answer to a fault of ours, which no middleware sees.
    """
    for refusal in REFUSALS:
        app.add_exception_handler(refusal, _on_refusal)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    for unavailable in DATABASE_AWAY:
        app.add_exception_handler(unavailable, _on_database_error)
    app.add_exception_handler(Exception, _fault_handler(fault_headers))


def _on_refusal(_request: Request, error: Exception) -> JSONResponse:
    known = as_api_error(error)
    if known is None:
        raise error
    return error_response(known.answer, known.message, known.details, known.headers)


def _validation_detail(problem: Mapping[str, object]) -> ErrorDetail:
    """Names the field as the client wrote it; never repeats the value."""
    kind = problem.get("type")
    if kind == "json_invalid":
        return {"field": "body", "description": "This is not valid JSON."}
    location = problem.get("loc")
    parts = [str(part) for part in location] if isinstance(location, tuple) else []
    field = ".".join(parts[1:]) or "body"
    if kind == "extra_forbidden":
        return {"field": field, "description": "There is no such field."}
    if kind in {"model_attributes_type", "model_type"}:
        return {"field": field, "description": "Send a JSON object as application/json."}
    description = str(problem.get("msg", "This value can't be used.")).removeprefix("Value error, ")
    return {"field": field, "description": description}


def _on_http_error(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    messages = {404: "There is nothing at this address.", 405: "This method can't be used here."}
    status = error.status_code
    seconds = SOON_SECONDS if status in PASSING else None
    answer = ErrorAnswer(status, _HTTP_STATUS_NAMES.get(status, "UNKNOWN"), seconds)
    message = messages.get(error.status_code, str(error.detail))
    return error_response(answer, message, headers=error.headers)


def _on_disconnect(_request: Request, _error: Exception) -> JSONResponse:
    # Hardly anybody is left to read this; without it every broken upload would be logged as a fault of ours.
    return error_response(
        INVALID,
        "The connection ended before the request did, or the request came too slowly.",
        headers={"Connection": "close"},
    )


def _on_database_error(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, PoolTimeoutError):
        logger.warning(
            "all XPROF_HUB_DATABASE_CONNECTIONS of this process are in use, and none became free"
        )
        return error_response(UNAVAILABLE, ALL_TAKEN)
    # The driver's first line says why; below it SQLAlchemy shows the statement with what people wrote.
    reason = str(error).partition("\n")[0]
    logger.error("the registry's database does not answer: %s", redact(reason))
    return error_response(UNAVAILABLE, NO_DATABASE)


def _fault_handler(headers: Mapping[str, str]) -> Callable[[Request, Exception], JSONResponse]:
    def on_fault(_request: Request, _error: Exception) -> JSONResponse:
        # Starlette raises the error again after this answer, so that the server logs it.
        message = "XProf Hub failed at this request. Its log says why."
        return error_response(INTERNAL, message, headers=headers)

    return on_fault
