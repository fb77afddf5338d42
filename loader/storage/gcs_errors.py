"""What went wrong in Cloud Storage, told apart: no permission, no bucket, no object, no answer.

People can't tell a misspelt bucket from a missing role when both read "not found", so each failure of
the client library becomes one code and one sentence that says what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import requests
import urllib3
from google.api_core import exceptions as api
from google.auth import exceptions as auth
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse

from loader.errors import ErrorCode, LoaderError
from loader.storage.address import shown

FAILURES = (
    api.GoogleAPIError,
    auth.GoogleAuthError,
    InvalidResponse,
    DataCorruption,
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    ConnectionError,
    TimeoutError,
)
"""Everything that the client raises for a failed request. Not OSError: that is our own disk."""


@contextmanager
def translated(bucket: str, file: str | None = None) -> Iterator[None]:
    """Turns the client's failures into `LoaderError`.

    Args:
        bucket: the bucket that is read.
        file: name of the object whose listed generation is read, or None for a listing.
    """
    try:
        yield
    except FAILURES as error:
        raise _translate(error, bucket, file) from error


def _translate(error: BaseException, bucket: str, file: str | None) -> LoaderError:
    """Picks the one error that fits."""
    if isinstance(error, api.RetryError) and error.cause is not None:
        error = error.cause
    status = status_of(error)
    if isinstance(error, auth.DefaultCredentialsError):
        return no_credentials(file)
    if status in (HTTPStatus.FORBIDDEN, HTTPStatus.UNAUTHORIZED) or _is_refused_login(error):
        return LoaderError(
            ErrorCode.PERMISSION_DENIED,
            f"XProf Hub may not read bucket {bucket}; grant roles/storage.objectViewer on it to the "
            "service account of XProf Hub.",
            file,
        )
    if status == HTTPStatus.NOT_FOUND and (file is None or "bucket does not exist" in str(error)):
        return LoaderError(
            ErrorCode.BUCKET_NOT_FOUND,
            f"There is no bucket named {bucket}; check the spelling of the location.",
            file,
        )
    if file and status in (HTTPStatus.NOT_FOUND, HTTPStatus.PRECONDITION_FAILED):
        return changed(file)
    return unavailable(bucket, file)


def status_of(error: BaseException) -> int | None:
    """The HTTP status behind an error, if there was an answer at all."""
    status: int | None = None
    if isinstance(error, api.GoogleAPICallError):
        status = error.code
    elif isinstance(error, InvalidResponse):
        status = error.response.status_code
    return status


def _is_refused_login(error: BaseException) -> bool:
    """Whether credentials exist but are refused; a metadata server that does not answer is not that."""
    return isinstance(error, auth.RefreshError) and not error.retryable


def no_credentials(file: str | None = None) -> LoaderError:
    """No credentials were found at all."""
    return LoaderError(
        ErrorCode.PERMISSION_DENIED,
        "XProf Hub has no Google Cloud credentials; run it under a service account, or set "
        "GOOGLE_APPLICATION_CREDENTIALS to a key file.",
        file,
    )


def changed(file: str) -> LoaderError:
    """The listed generation is gone."""
    return LoaderError(
        ErrorCode.SOURCE_CHANGED,
        f"{shown(file)} was replaced or removed while it was read; reload to see its new state.",
        file,
    )


def unavailable(bucket: str, file: str | None) -> LoaderError:
    """The store did not answer, or answered with a passing error."""
    return LoaderError(
        ErrorCode.STORAGE_UNAVAILABLE,
        f"Cloud Storage did not answer for bucket {bucket} in time or answered with a passing error; "
        "try again in a minute.",
        file,
    )
