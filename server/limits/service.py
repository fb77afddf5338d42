"""The limits of one front end: what is counted, how much of it is too much, and for whom."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from loader.caches.redis_results import connect
from server.limits.attempts import Attempts
from server.limits.traffic import Traffic
from server.limits.windows import Counted, Limit, network_of
from server.settings import Settings

WRONG_TOKENS = Limit("wrong-tokens", 20)
"""API tokens and codes at signing in, by address."""
DEVICE_CODES = Limit("device-codes", 100, 600)
"""Programs that ask to be let in, by address."""
WRONG_PASSWORDS_HERE = Limit("wrong-passwords-here", 10)
"""Passwords of a link, by link and address."""
WRONG_PASSWORDS = Limit("wrong-passwords", 100, 3600)
"""The same of all addresses together: eight letters out of a dictionary hold out for days. The price: whoever
has the link can keep others from opening it for an hour, if they have not shown the password yet."""
UNKNOWN_LINKS = Limit("unknown-links", 120)
"""Addresses of links that nobody has made, by address."""


@dataclass(frozen=True)
class Limits:
    """Counts, and knows what is too much.

    Attributes:
        attempts: of tokens, passwords and codes.
        traffic: requests.
        of_address: requests of a network address within a minute.
        of_link: requests under a link within a minute.
        refused: counts a request that was refused, by the name of the limit.
    """

    attempts: Attempts
    traffic: Traffic
    of_address: Limit
    of_link: Limit
    refused: Callable[[str], None]


def open_limits(settings: Settings, refused: Callable[[str], None]) -> Limits:
    """The limits as they are set; none on requests to a development server, which has one user."""
    is_limited = settings.auth != "dev"
    client = connect(settings.redis_url) if settings.redis_url else None
    return Limits(
        attempts=Attempts(client),
        traffic=Traffic(client),
        of_address=Limit("address", settings.address_requests if is_limited else 0),
        of_link=Limit("link", settings.link_requests if is_limited else 0),
        refused=refused,
    )


def by_address(limit: Limit, request: Request) -> Counted:
    """A limit for the network that a request comes from."""
    return Counted(limit, network_of(request.client.host if request.client else ""))


def password_limits(request: Request, link_id: str) -> tuple[Counted, Counted]:
    """The limits for passwords of a link."""
    here = by_address(WRONG_PASSWORDS_HERE, request)
    return Counted(here.limit, f"{link_id} {here.subject}"), Counted(WRONG_PASSWORDS, link_id)
