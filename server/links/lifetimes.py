"""When links and API tokens end: from what a client says to a moment, and from moments to a state."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from auth.links import parse_lifetime
from server.http.errors import invalid_field
from server.schemas import Lifetime, State

LATEST = datetime(9999, 1, 1, tzinfo=UTC)
"""First moment that is too late. Close to the year 10,000 some zones have no date for a moment, and the
database or a client may be in one of them."""


def expiry(wanted: Lifetime, now: datetime, default: timedelta | None) -> datetime | None:
    """The first moment at which it has ended; None for never.

    Raises:
        ApiError: naming the field: two were given, one can't be read, or it is over already.
    """
    given = [wanted.expire_time is not None, wanted.ttl is not None, wanted.never]
    if sum(given) > 1:
        raise invalid_field("ttl", "Send only one of expireTime, ttl and never.")
    if wanted.never:
        return None
    if wanted.expire_time is not None:
        if wanted.expire_time <= now:
            raise invalid_field("expireTime", "This moment is over already.")
        if wanted.expire_time >= LATEST:
            raise invalid_field("expireTime", "This is too late. Send never for what has no end.")
        return wanted.expire_time.astimezone(UTC)
    if wanted.ttl is None:
        return None if default is None else now + default
    try:
        lifetime = parse_lifetime(wanted.ttl)
    except ValueError as error:
        raise invalid_field("ttl", str(error)) from error
    return None if lifetime is None else now + lifetime


def state_at(now: datetime, expires: datetime | None, revoked: datetime | None) -> State:
    """Whether it works at this moment, and if not, why."""
    if revoked is not None:
        return "REVOKED"
    return "EXPIRED" if expires is not None and now >= expires else "ACTIVE"
