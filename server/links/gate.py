"""The gate of share links: who is let in, and what those are told who are not.

A link may ask for somebody who has signed in, for a password, and for having been counted. Each request asks
anew, so what is changed or revoked counts at the next one. What a token opens beyond that is
`server.links.grants`' matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import quote

from fastapi import Request

from auth.identity import Principal, identify
from auth.links import (
    Active,
    Expired,
    Forbidden,
    LinkAccess,
    Revoked,
    ShareLink,
    resolve,
)
from auth.policy import Action, may
from server.callers.session_passes import is_content_host
from server.callers.signed_in import NotAllowedError, SignInNeededError, require_person
from server.http.error_table import UNAUTHENTICATED
from server.http.errors import ApiError
from server.http.local_paths import address_path
from server.links.cookies import key_cookie, opening_cookie
from server.links.passes import entry_path, link_pass_holder
from server.links.targets import target_name
from server.registry.opened_links import OpenedLinks
from server.registry.records import ProfilerSession
from server.registry.tokens import SqlTokenStore
from server.services import Services

UNLOCK = "/unlock"
"""Where a link's password is asked for, below its path."""
_BEARER = "bearer "


class LinkEnd(StrEnum):
    """Why a link opens nothing."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"
    FORBIDDEN = "forbidden"
    """Links of its kind are not allowed any more."""
    USED_UP = "used up"
    """It was opened as often as it may be."""


class LinkEndedError(Exception):
    """Raised for a token that opens nothing; never says whether its target exists."""

    def __init__(self, end: LinkEnd) -> None:
        super().__init__(end.value)
        self.end = end


class PasswordNeededError(Exception):
    """The link asks for a password, and whoever asks has not shown that he knows it.

    Attributes:
        address: path of the form, with where to go on.
    """

    def __init__(self, address: str) -> None:
        super().__init__("a password is needed")
        self.address = address


class OpeningNeededError(Exception):
    """The link may be opened so often only, and whoever asks has not opened its page."""


@dataclass(frozen=True)
class Admitted:
    """A link that lets in whoever asks.

    Attributes:
        link: the link.
        session: the session that the link is to; None if it is to a run, or has lost it.
        viewer: who asks, if the link wants to know; else None.
    """

    link: ShareLink
    session: ProfilerSession | None
    viewer: Principal | None = None


def link_path(services: Services, token: str) -> str:
    """URL path of a link, percent-encoded, without trailing slash."""
    return f"{services.settings.path_prefix}/s/{quote(token, safe='')}"


def active_link(services: Services, token: str) -> ShareLink:
    """The link that has this token, whomever it lets in.

    Raises:
        LinkEndedError: the token opens nothing.
    """
    return _opened(services, token).link


def _opened(services: Services, token: str) -> Admitted:
    """The link that has this token, whoever asks, and its session; in one transaction.

    Raises:
        LinkEndedError: the token opens nothing.
    """
    store = OpenedLinks(services.database)
    outcome = resolve(store, token, datetime.now(UTC))
    if isinstance(outcome, Expired):
        raise LinkEndedError(LinkEnd.EXPIRED)
    if isinstance(outcome, Revoked):
        raise LinkEndedError(LinkEnd.REVOKED)
    if isinstance(outcome, Forbidden):
        raise LinkEndedError(LinkEnd.FORBIDDEN)
    if not isinstance(outcome, Active):
        raise LinkEndedError(LinkEnd.UNKNOWN)
    return Admitted(outcome.link, store.session)


def known_viewer(request: Request, services: Services, token: str) -> Admitted:
    """The link of a token, for somebody who may ask for its password at all.

    Raises:
        LinkEndedError: the token opens nothing.
        SignInNeededError, NotAllowedError: the link asks for somebody who may look at sessions.
        ApiError: 401, the request shows an API token that does not work.
    """
    found = _opened(services, token)
    if found.link.access is LinkAccess.UNLISTED:
        return found
    return replace(found, viewer=_person(request, services, found.link, token))


def admitted(request: Request, services: Services, token: str) -> Admitted:
    """The link of a token, if it lets in whoever asks, as far as its page.

    Raises:
        LinkEndedError, SignInNeededError, NotAllowedError, ApiError: as `known_viewer`; also when the link
            was opened as often as it may be, and not by this browser.
        PasswordNeededError: it asks for a password.
    """
    found = known_viewer(request, services, token)
    link, now = found.link, datetime.now(UTC)
    key = key_cookie(request, services.settings)
    if link.has_password and not services.link_seals.is_key(key, link, now):
        raise PasswordNeededError(_unlock_address(request, services, token))
    is_used_up = link.most_opens is not None and link.opens >= link.most_opens
    if is_used_up and not has_opened(request, services, link):
        raise LinkEndedError(LinkEnd.USED_UP)
    return found


def has_opened(request: Request, services: Services, link: ShareLink) -> bool:
    """Whether this browser's opening of the link was counted, within a day."""
    text = opening_cookie(request, services.settings)
    return services.link_seals.is_opening(text, link, datetime.now(UTC))


def require_opened(request: Request, services: Services, link: ShareLink) -> None:
    """Refuses whoever asks for what a page shows without having opened the page.

    Raises:
        OpeningNeededError: the link is one that counts, and did not count this.
    """
    if link.most_opens is not None and not has_opened(request, services, link):
        raise OpeningNeededError


def _person(request: Request, services: Services, link: ShareLink, token: str) -> Principal:
    """Who asks: by an API token in the request, by a pass on the content host, or signed in on the hub's.

    Raises:
        SignInNeededError, NotAllowedError, ApiError: as `known_viewer`.
    """
    resource = target_name(link.target)
    principal = _bearer(request, services)
    if principal is None and not is_content_host(request, services):
        return require_person(request, services, Action.SESSIONS_READ, resource).principal
    principal = principal or link_pass_holder(request, services, link)
    if principal is None:
        rest = request.scope["path"].partition(token)[2]
        raise SignInNeededError(
            address_path(f"{entry_path(services, token)}{rest}", request.url.query)
        )
    if not may(principal, Action.SESSIONS_READ, resource):
        raise NotAllowedError
    return principal


def _bearer(request: Request, services: Services) -> Principal | None:
    """Who shows an API token; None where the request has none.

    What browsers send by themselves (`Basic`) is not looked at.

    Raises:
        ApiError: 401, it does not work.
    """
    authorization = request.headers.get("authorization", "")
    if not authorization.lower().startswith(_BEARER) or services.settings.auth == "dev":
        return None
    principal = identify(SqlTokenStore(services.database), authorization, datetime.now(UTC))
    if principal is None:
        raise ApiError(
            UNAUTHENTICATED,
            "This API token does not work.",
            headers={"WWW-Authenticate": 'Bearer realm="xprof-hub"'},
        )
    return principal


def _unlock_address(request: Request, services: Services, token: str) -> str:
    rest = address_path(request.scope["path"].partition(token)[2], request.url.query)
    mark = f"?next={quote(rest, safe='/')}" if rest else ""
    return f"{link_path(services, token)}{UNLOCK}{mark}"
