"""Creations that a client may send again (AIP-155): who repeats one gets what the first one made.

`claim` is meant for the transaction that makes the resource: of two that arrive at once only one makes
it; `recall` looks before that. `server.http.repeated` puts the two together.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.forgetting import forget_old
from server.registry.models import RequestRow

KEPT = timedelta(days=1)
"""How long a request is remembered at least."""


@dataclass(frozen=True)
class RepeatableRequest:
    """A creation that its client has given a name.

    Attributes:
        principal: who asks; two may use the same name.
        request_id: the name.
        fingerprint: hash of all that is asked.
    """

    principal: str
    request_id: str
    fingerprint: str

    @property
    def mark(self) -> str:
        """What it is kept under."""
        return _hash([self.principal, self.request_id])


def fingerprint_of(*asked: object) -> str:
    """A hash of JSON values: the resource's place and all that is said of it."""
    return _hash(list(asked))


def recall(database: Database, request: RepeatableRequest) -> str | None:
    """What the same request made before: a name of a resource; None when it is new.

    Raises:
        RegistryError: ALREADY_EXISTS, the name was used for something else.
    """
    with database.reading() as session:
        row = session.scalar(select(RequestRow).where(RequestRow.mark == request.mark))
        if row is None:
            return None
        if row.fingerprint != request.fingerprint:
            raise RegistryError(
                RegistryProblem.ALREADY_EXISTS,
                f"requestId {request.request_id!r} was used for another request. Choose a new one.",
            )
        return row.resource


def claim(
    session: Session, request: RepeatableRequest | None, resource: str, now: datetime
) -> None:
    """Notes in the transaction that makes the resource what the request made, if the request has a name.

    Raises:
        RegistryError: ALREADY_EXISTS, the same request was claimed in this moment; nothing is made.
        IntegrityError: the resource itself can't be made.
    """
    session.flush()
    if request is None:
        return
    session.add(
        RequestRow(
            mark=request.mark, fingerprint=request.fingerprint, resource=resource, created=now
        )
    )
    try:
        session.flush()
    except IntegrityError as error:
        raise RegistryError(
            RegistryProblem.ALREADY_EXISTS,
            f"requestId {request.request_id!r} is used by another request at this moment.",
        ) from error


def remove_old_requests(database: Database, before: datetime) -> int:
    """Removes some requests from before a moment; how many."""
    with database.writing() as session:
        return forget_old(session, RequestRow, before)


def _hash(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
