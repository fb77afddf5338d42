"""`/v1/notifications:push`: where Pub/Sub pushes a bucket's word that an object was written.

Not part of the API that people call: its caller is Google, known by a signed token. Whatever is genuine is
acknowledged, also what is of no use here, for Pub/Sub repeats everything else for a week.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.push_tokens import PushVerifier
from auth.signed_tokens import KeysUnavailableError
from loader.storage.address import GCS_SCHEME
from server.http.error_table import BODY_TOO_LARGE, NOT_FOUND, UNAUTHENTICATED, UNAVAILABLE
from server.http.errors import ApiError
from server.http.limited_body import BodyTooLargeError, read_limited_body
from server.names import has_controls
from server.services import Services, ServicesDependency

PATH = "/v1/notifications:push"
_WRITTEN = "OBJECT_FINALIZE"
router = APIRouter()


@router.post(PATH, include_in_schema=False)
async def take_notification(request: Request, services: ServicesDependency) -> Response:
    """Takes one message in; 204 means that it need not come again."""
    await run_in_threadpool(_require_genuine, services, request.headers.get("authorization"))
    try:
        body = await read_limited_body(request)
    except BodyTooLargeError as problem:
        raise ApiError(BODY_TOO_LARGE, "A notification is small.") from problem
    location = written_object(body)
    if location is None:
        services.metrics.discovery.notified("ignored")
    else:
        await run_in_threadpool(services.discovery.notices.take, location, datetime.now(UTC))
    return Response(status_code=204)


def written_object(body: bytes) -> str | None:
    """Address of the object that a push says was written; None when it says something else.

    The format: https://cloud.google.com/storage/docs/pubsub-notifications#format
    """
    try:
        attributes = json.loads(body)["message"]["attributes"]
        kind, bucket = attributes["eventType"], attributes["bucketId"]
        name = attributes["objectId"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if kind != _WRITTEN or not isinstance(bucket, str) or not isinstance(name, str):
        return None
    return None if has_controls(name) else f"{GCS_SCHEME}{bucket}/{name}"


def _require_genuine(services: Services, authorization: str | None) -> None:
    """Refuses what Google did not sign for the account that is set.

    Raises:
        ApiError: 404 where no notifications are expected, 401, or 503 when that can't be told now.
    """
    verifier = services.discovery.verifier
    if verifier is None:
        raise ApiError(NOT_FOUND, "There is nothing at this address.")
    if not _is_genuine(verifier, authorization):
        services.metrics.discovery.notified("refused")
        raise ApiError(UNAUTHENTICATED, "This push is not signed as it must be.")


def _is_genuine(verifier: PushVerifier, authorization: str | None) -> bool:
    try:
        return verifier.is_genuine(authorization)
    except KeysUnavailableError as problem:
        raise ApiError(
            UNAVAILABLE, "The keys that pushes are checked with can't be fetched now."
        ) from problem
