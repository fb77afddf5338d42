"""People who come through Google's Identity-Aware Proxy: to pages, and to the API.

The proxy vouches for each request by itself, so there is nothing to sign in to. A browser sends what the
proxy asks for along with every request, whoever made it ask: changes by pages of other sites are refused as
always, and the API answers no page at all in this way, for a profile's page may be of its host (adr/033).
"""

from __future__ import annotations

from fastapi import Request

from auth.iap import ASSERTION_HEADER
from auth.identity import Principal
from auth.members import KnownPerson, members_for, principal_of_person
from auth.signed_tokens import KeysUnavailableError, TokenRefusedError
from server.http.error_table import FORBIDDEN, UNAVAILABLE
from server.http.errors import ApiError
from server.registry.members import memberships_of
from server.services import Services

_ADDRESS_BAR = "none"


def find_iap_person(request: Request, services: Services) -> KnownPerson | None:
    """Whom the proxy vouches for; None where it does not, or this hub is not behind it.

    Raises:
        ApiError: 503 when its keys can't be fetched.
    """
    reader = services.sign_ins.iap
    assertion = request.headers.get(ASSERTION_HEADER)
    if reader is None or not assertion:
        return None
    try:
        return reader.read(assertion)
    except TokenRefusedError:
        return None
    except KeysUnavailableError as problem:
        raise ApiError(UNAVAILABLE, "The keys of Google's proxy can't be fetched now.") from problem


def principal_of_iap(services: Services, person: KnownPerson) -> Principal | None:
    """Who that is here; None without a role. Asks the database."""
    memberships = memberships_of(services.database, members_for(person))
    return principal_of_person(person, memberships, services.sign_ins.admins)


def find_iap_caller(request: Request, services: Services) -> Principal | None:
    """The caller of the API whom the proxy vouches for; None where it does not.

    Raises:
        ApiError: 403 for a page, and for somebody without a role; 503 as `find_iap_person`.
    """
    person = find_iap_person(request, services)
    if person is None:
        return None
    if request.headers.get("sec-fetch-site", _ADDRESS_BAR).lower() != _ADDRESS_BAR:
        raise ApiError(FORBIDDEN, "Pages don't call the API; send an API token, or no browser.")
    principal = principal_of_iap(services, person)
    if principal is None:
        raise ApiError(FORBIDDEN, no_role(person.email))
    return principal


def no_role(email: str) -> str:
    """What to do about having no role, in words."""
    return (
        f"{email} has no role here. An admin of this hub gives roles on its page Members, or with "
        f"'xprof-hub members add user:{email} --role viewer'."
    )
