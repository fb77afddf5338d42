"""The errors of the loader, as values that travel between processes.

Every failure that a person may see is a `LoaderError` with a code, one sentence in plain words, and, where
there is one, the file it is about. Nothing here knows HTTP: `server.http.error_table` maps a code to a
status.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn


class ErrorCode(StrEnum):
    """What went wrong, as a caller can act on it."""

    INVALID_REQUEST = "invalid_request"
    """A parameter that no tool understands, or a value that can't be read."""
    NOT_FOUND = "not_found"
    """The session, host, module or tool is not there."""
    BUCKET_NOT_FOUND = "bucket_not_found"
    """The bucket (not the object) does not exist."""
    PERMISSION_DENIED = "permission_denied"
    """The service account may not read there, or the location lies outside the configured roots."""
    STORAGE_UNAVAILABLE = "storage_unavailable"
    """The object store did not answer in time, or answered with a passing error; try again."""
    STORAGE_FULL = "storage_full"
    """There is no room where uploads are kept."""
    SOURCE_CHANGED = "source_changed"
    """A file was replaced while it was read; try again."""
    MALFORMED = "malformed"
    """The file is not a readable XProf profile."""
    TOO_LARGE = "too_large"
    """The profile exceeds a limit of this installation."""
    ENGINE_REFUSED = "engine_refused"
    """XProf answered that it can't make this tool from this profile."""
    ENGINE_CRASHED = "engine_crash"
    """XProf died on this profile."""
    OUT_OF_MEMORY = "out_of_memory"
    """The conversion needed more memory than it may have."""
    TIMED_OUT = "timed_out"
    """The conversion took longer than it may."""
    NEEDS_LARGER_WORKER = "needs_larger_worker"
    """The conversion is expected to need more memory than this worker may use at all."""
    INCOMPLETE = "incomplete"
    """The file is damaged as it is, but an upload may be under way; try again. Never cached."""
    CANCELLED = "cancelled"
    """Whoever asked for the work in advance does not want it any more. Never cached."""
    BUSY = "busy"
    """Too much is asked for at the moment; try again."""
    WORKER_FULL = "worker_full"
    """This worker's disk has no room for it; another worker's may, or this one's later. Never cached."""
    INTERNAL = "internal"
    """A fault of ours. Never cached."""


CACHEABLE = frozenset(
    {
        ErrorCode.MALFORMED,
        ErrorCode.TOO_LARGE,
        ErrorCode.ENGINE_REFUSED,
        ErrorCode.ENGINE_CRASHED,
        ErrorCode.OUT_OF_MEMORY,
        ErrorCode.TIMED_OUT,
    }
)
"""Codes that say something about the profile itself, so that asking again at once can't help."""
COMES_BACK = frozenset({ErrorCode.BUSY, ErrorCode.WORKER_FULL})
"""Codes that say something about the worker now, so that asking again a little later may well help."""


class LoaderError(Exception):
    """A failure that the caller should show.

    Attributes:
        code: what kind of failure it is.
        message: one sentence for a person; never holds a path of this server, a token or a stack trace.
        file: the profile file that it is about, by its name, or None.
        retry_after: in how many seconds asking again may help, where that is known better than from the code.
        ahead: how many others that wait would have gone first, where there is a line.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        file: str | None = None,
        retry_after: int | None = None,
        ahead: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.file = file
        self.retry_after = retry_after
        self.ahead = ahead

    def __reduce__(
        self,
    ) -> tuple[type[LoaderError], tuple[ErrorCode, str, str | None, int | None, int | None]]:
        """Keeps all of it when the error crosses a process boundary."""
        told = (self.code, self.message, self.file, self.retry_after, self.ahead)
        return (type(self), told)


class HostTooLargeError(LoaderError):
    """NEEDS_LARGER_WORKER because of one host alone, without which the others may fit."""


_WITHOUT_PLACE = {
    ErrorCode.BUCKET_NOT_FOUND: "The bucket that held this session does not exist any more.",
    ErrorCode.PERMISSION_DENIED: "XProf Hub may not read this session's files. Ask whoever runs it to check "
    "its access to the bucket or folder.",
    ErrorCode.STORAGE_UNAVAILABLE: "The place where this session is stored does not answer.",
}


def raise_without_place(error: LoaderError) -> NoReturn:
    """Raises a storage error without bucket or path: who opens a session need not learn where it lies.

    Raises:
        LoaderError: always; other errors as they are.
    """
    message = _WITHOUT_PLACE.get(error.code)
    if message is None:
        raise error
    raise LoaderError(error.code, message, error.file) from error
