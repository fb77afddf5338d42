"""The one table from a failure to its HTTP status and canonical name (Google AIP-193).

Workers use it too, so nothing here may import the registry or a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from loader.errors import ErrorCode


@dataclass(frozen=True)
class ErrorAnswer:
    """How a kind of error is answered.

    Attributes:
        http: HTTP status.
        status: canonical name of the error (AIP-193).
        retry_after: seconds after which asking again may help, or None.
    """

    http: int
    status: str
    retry_after: int | None = None


INVALID = ErrorAnswer(400, "INVALID_ARGUMENT")
UNAUTHENTICATED = ErrorAnswer(401, "UNAUTHENTICATED")
FORBIDDEN = ErrorAnswer(403, "PERMISSION_DENIED")
NOT_FOUND = ErrorAnswer(404, "NOT_FOUND")
PRECONDITION = ErrorAnswer(400, "FAILED_PRECONDITION")
EXISTS = ErrorAnswer(409, "ALREADY_EXISTS")
CONFLICT = ErrorAnswer(409, "ABORTED")
SLOW_CLIENT = ErrorAnswer(408, "DEADLINE_EXCEEDED")
BODY_TOO_LARGE = ErrorAnswer(413, "INVALID_ARGUMENT")
TOO_MANY = ErrorAnswer(429, "RESOURCE_EXHAUSTED")
UNAVAILABLE = ErrorAnswer(503, "UNAVAILABLE", retry_after=5)
INTERNAL = ErrorAnswer(500, "INTERNAL")

LOADER_ANSWERS: Mapping[ErrorCode, ErrorAnswer] = MappingProxyType(
    {
        ErrorCode.INVALID_REQUEST: INVALID,
        ErrorCode.NOT_FOUND: NOT_FOUND,
        ErrorCode.BUCKET_NOT_FOUND: NOT_FOUND,
        ErrorCode.PERMISSION_DENIED: FORBIDDEN,
        ErrorCode.STORAGE_UNAVAILABLE: UNAVAILABLE,
        ErrorCode.STORAGE_FULL: ErrorAnswer(507, "RESOURCE_EXHAUSTED"),
        ErrorCode.SOURCE_CHANGED: ErrorAnswer(503, "UNAVAILABLE", retry_after=1),
        ErrorCode.MALFORMED: ErrorAnswer(422, "FAILED_PRECONDITION"),
        ErrorCode.TOO_LARGE: ErrorAnswer(413, "FAILED_PRECONDITION"),
        ErrorCode.ENGINE_REFUSED: ErrorAnswer(422, "FAILED_PRECONDITION"),
        ErrorCode.ENGINE_CRASHED: ErrorAnswer(422, "FAILED_PRECONDITION"),
        ErrorCode.OUT_OF_MEMORY: ErrorAnswer(507, "RESOURCE_EXHAUSTED"),
        ErrorCode.TIMED_OUT: ErrorAnswer(504, "DEADLINE_EXCEEDED"),
        ErrorCode.NEEDS_LARGER_WORKER: ErrorAnswer(507, "RESOURCE_EXHAUSTED"),
        ErrorCode.INCOMPLETE: ErrorAnswer(422, "FAILED_PRECONDITION", retry_after=5),
        ErrorCode.CANCELLED: CONFLICT,
        ErrorCode.BUSY: ErrorAnswer(503, "UNAVAILABLE", retry_after=2),
        ErrorCode.INTERNAL: INTERNAL,
    }
)
"""What each failure of the loader answers."""


def status_of(code: ErrorCode) -> int:
    """HTTP status of a failure of the loader."""
    return LOADER_ANSWERS[code].http
