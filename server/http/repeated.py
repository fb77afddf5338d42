"""Creations that a client may send again under one `requestId` (AIP-155): the first makes, the others find.

What is remembered stands in `server.registry.requests`; here is who asks, and in which order.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import StringConstraints

from auth.identity import Principal
from server.http.error_table import EXISTS
from server.http.errors import ApiError
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.requests import (
    KEPT,
    RepeatableRequest,
    fingerprint_of,
    recall,
    remove_old_requests,
)
from server.schemas import ApiModel, Line

Resource = TypeVar("Resource")

RequestId = Annotated[Line, StringConstraints(min_length=1, max_length=100)]


class RepeatableParameters(ApiModel):
    """Parameters of a creation."""

    request_id: RequestId | None = None
    """Makes sending it again harmless for a day: the same caller's same request makes nothing new."""


def repeatable(
    principal: Principal, request_id: str | None, place: str, body: ApiModel, *more: object
) -> RepeatableRequest | None:
    """The request by its name, or None if it has none.

    Args:
        principal: who asks.
        request_id: the name that it was given.
        place: the collection that the new resource goes into.
        body: what is asked.
        more: parameters that matter, as JSON values.
    """
    if request_id is None:
        return None
    asked = fingerprint_of(place, body.model_dump(mode="json", exclude_unset=True), *more)
    return RepeatableRequest(principal.name, request_id, asked)


def made_before(database: Database, request: RepeatableRequest | None) -> str | None:
    """What the same request made before; None when it is new or has no name.

    Raises:
        RegistryError: ALREADY_EXISTS, the name was used for another request.
    """
    return None if request is None else recall(database, request)


def told_once(kind: str, name: str) -> ApiError:
    """The answer to a repeated request whose answer held a secret: it is not kept, so it can't be told again.

    Args:
        kind: what was made, for people.
        name: its resource name.
    """
    message = (
        f"This request made a {kind} before, {name}, and its secret was told only then. If that answer was "
        "lost, delete what it made and ask under a new requestId."
    )
    return ApiError(EXISTS, message, [{"reason": "made_before", "resource": name}])


def make_once(
    database: Database,
    request: RepeatableRequest | None,
    make: Callable[[], Resource],
    find: Callable[[str], Resource],
) -> Resource:
    """What a creation makes, or what the same one made before.

    Args:
        database: the registry.
        request: its name, or None for one that is not repeated.
        make: makes the resource, and claims the request in the same transaction.
        find: finds what was made by the name that was claimed.

    Raises:
        RegistryError: ALREADY_EXISTS (the name was used for another request), or what the two raise.
    """
    if request is None:
        return make()
    made = recall(database, request)
    if made is None:
        try:
            created = make()
        except RegistryError as error:
            # Of two that arrive at once, the later one finds what the first one made.
            made = made_meanwhile(database, request, error)
        else:
            remove_old_requests(database, datetime.now(UTC) - KEPT)
            return created
    return find(made)


def made_meanwhile(
    database: Database, request: RepeatableRequest | None, error: RegistryError
) -> str:
    """What the same request made in the moment in which this one was refused.

    Raises:
        RegistryError: the given one, when that is not why.
    """
    if request is None:
        raise error
    made = recall(database, request) if error.problem is RegistryProblem.ALREADY_EXISTS else None
    if made is None:
        raise error
    return made
