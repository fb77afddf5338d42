"""The one table from a failure to its HTTP status and canonical name (Google AIP-193).

Workers use it too, so nothing here may import the registry or a database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from loader.disk import FULL_SECONDS
from loader.errors import ErrorCode, LoaderError

PASSING = frozenset({429, 503})
"""Statuses after which the same request may well succeed a little later."""
SOON_SECONDS = 5
"""When to come back, where nothing better is known."""


@dataclass(frozen=True)
class ErrorAnswer:
    """How a kind of error is answered; 429 and 503 always say when to come back.

    Attributes:
        http: HTTP status.
        status: canonical name of the error (AIP-193).
        retry_after: seconds after which asking again may help, or None.
    """

    http: int
    status: str
    retry_after: int | None = None

    def __post_init__(self) -> None:
        """Lets no answer be made that leaves those who may come back in the dark.

        Raises:
            ValueError: 429 or 503 without a time.
        """
        if self.http in PASSING and self.retry_after is None:
            raise ValueError(f"{self.http} has to say after how many seconds to try again")


INVALID = ErrorAnswer(400, "INVALID_ARGUMENT")
UNAUTHENTICATED = ErrorAnswer(401, "UNAUTHENTICATED")
FORBIDDEN = ErrorAnswer(403, "PERMISSION_DENIED")
NOT_FOUND = ErrorAnswer(404, "NOT_FOUND")
PRECONDITION = ErrorAnswer(400, "FAILED_PRECONDITION")
EXISTS = ErrorAnswer(409, "ALREADY_EXISTS")
CONFLICT = ErrorAnswer(409, "ABORTED")
SLOW_CLIENT = ErrorAnswer(408, "DEADLINE_EXCEEDED")
BODY_TOO_LARGE = ErrorAnswer(413, "INVALID_ARGUMENT")
TOO_MANY = ErrorAnswer(429, "RESOURCE_EXHAUSTED", retry_after=SOON_SECONDS)
UNAVAILABLE = ErrorAnswer(503, "UNAVAILABLE", retry_after=SOON_SECONDS)
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
        ErrorCode.WORKER_FULL: ErrorAnswer(503, "UNAVAILABLE", retry_after=FULL_SECONDS),
        ErrorCode.INTERNAL: INTERNAL,
    }
)
"""What each failure of the loader answers."""


def answer_of(error: LoaderError) -> ErrorAnswer:
    """How a failure of the loader is answered; the time that it names itself is better than the table's."""
    answer = LOADER_ANSWERS[error.code]
    return answer if error.retry_after is None else replace(answer, retry_after=error.retry_after)


def retry_headers(answer: ErrorAnswer) -> dict[str, str]:
    """The header that says when to come back, in seconds, where that may help (RFC 9110)."""
    return {} if answer.retry_after is None else {"Retry-After": str(answer.retry_after)}


def status_of(code: ErrorCode) -> int:
    """HTTP status of a failure of the loader."""
    return LOADER_ANSWERS[code].http
