"""Who looks at the pages that no link opens: people who have signed in, or all on a developer's machine.

`find_person` is the one place where a cookie becomes a principal, and asks the database at each request, so
that a revoked token, a smaller role and signing out elsewhere count at once. The API never asks here: what a
page could be made to send along with a cookie changes nothing and reads nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from fastapi import Request

from auth.browser_sessions import (
    LONGEST_PASS,
    NO_SESSION,
    BrowserSeals,
    BrowserSession,
    SignInMethod,
    principal_of,
    session_of_person,
)
from auth.iap import IapReader
from auth.identity import LOCAL_ADMIN, Principal
from auth.oidc import AttemptSeal, Client
from auth.policy import Action, may
from auth.signed_tokens import PublishedKeys
from server.callers.access import refuse_foreign_host
from server.callers.browser_cookies import signed_in_cookie
from server.callers.iap import find_iap_person, principal_of_iap
from server.callers.oidc_provider import OidcProvider
from server.callers.sealing_secret import sealing_secrets
from server.callers.sign_ins import SignIns
from server.http.local_paths import address_path
from server.http.published import PublishedDocument
from server.limits.service import WRONG_TOKENS, by_address
from server.registry.browser_sessions import SqlBrowserSessions
from server.services import Services
from server.settings import Settings


class SignInNeededError(Exception):
    """Nobody has signed in, or not any more.

    Attributes:
        back: path with query, below the hub's address, that was asked for.
    """

    def __init__(self, back: str) -> None:
        super().__init__("nobody has signed in")
        self.back = back


class NotAllowedError(Exception):
    """Somebody has signed in who may not do this."""


class NothingThereError(Exception):
    """There is no such run or session, for whoever asked."""


@dataclass(frozen=True)
class Person:
    """Somebody at a browser.

    Attributes:
        principal: who it is.
        session: how long, and by which way.
    """

    principal: Principal
    session: BrowserSession

    @property
    def has_signed_in(self) -> bool:
        """Whether there is something to sign out of, here or at the proxy before this hub."""
        return self.session.method is not SignInMethod.NONE


def open_sign_ins(settings: Settings) -> SignIns:
    """What signing in needs."""
    keys = sealing_secrets(settings)
    return SignIns(
        BrowserSeals(*keys),
        AttemptSeal(*keys),
        frozenset(settings.admins),
        _provider(settings),
        _iap(settings),
    )


def find_person(request: Request, services: Services) -> Person | None:
    """Who is at the browser, or None; blocks on the database.

    Raises:
        ApiError: 403 when a development server is asked by another name than this machine's; 503 when the
            keys of Google's proxy can't be fetched.
    """
    now = datetime.now(UTC)
    if services.settings.auth == "dev":
        refuse_foreign_host(request)
        return Person(LOCAL_ADMIN, _passing_session(SignInMethod.NONE, LOCAL_ADMIN.id, now))
    text = signed_in_cookie(request, services.settings)
    session_id = services.sign_ins.seals.read_session(text, now) if text else None
    found = find_session(services, session_id, now) if session_id else None
    if found is not None:
        return Person(*found)
    known = find_iap_person(request, services)
    principal = principal_of_iap(services, known) if known else None
    if known is None or principal is None:
        return None
    session = session_of_person(known, SignInMethod.IAP, now, LONGEST_PASS)
    return Person(principal, replace(session, id=NO_SESSION))


def find_session(
    services: Services, session_id: str, now: datetime
) -> tuple[Principal, BrowserSession] | None:
    """Who holds a browser session that is not over, with it; asks the database once."""
    found = SqlBrowserSessions(services.database).find(session_id)
    # Whom this hub asks no more vouches for nobody any more.
    trusted = {SignInMethod.TOKEN.value, services.settings.auth}
    if found is None or found.session.method.value not in trusted:
        return None
    principal = principal_of(found, services.sign_ins.admins, now)
    return (principal, found.session) if principal else None


def lasting_session(services: Services, person: Person, now: datetime) -> BrowserSession:
    """The browser session that a pass ends with.

    Behind Google's proxy there is none, for each request says who makes it, and the content host is not
    behind it: one is made that lasts as long as a pass, and serves for the passes of the next hours.
    """
    session = person.session
    if session.id != NO_SESSION or session.person is None:
        return session
    sessions = SqlBrowserSessions(services.database)
    kept = sessions.find_current(SignInMethod.IAP, session.subject, now + LONGEST_PASS / 2)
    if kept is None:
        kept = session_of_person(session.person, SignInMethod.IAP, now, LONGEST_PASS)
        sessions.add(kept)
    return kept


def require_person(request: Request, services: Services, action: Action, resource: str) -> Person:
    """Who is at the browser, if they may do this to the resource; blocks on the database.

    Raises:
        SignInNeededError, NotAllowedError: why not.
        ApiError: as `find_person`.
    """
    person = find_person(request, services)
    if person is None:
        raise SignInNeededError(this_address(request, services))
    if not may(person.principal, action, resource):
        raise NotAllowedError
    return person


def seconds_to_wait(request: Request, services: Services) -> int:
    """How long whoever asks may not try a token or code again; 0 when they may. Asks Redis."""
    seconds = services.limits.attempts.seconds_to_wait(by_address(WRONG_TOKENS, request))
    if seconds:
        services.limits.refused(WRONG_TOKENS.name)
    return seconds


def note_wrong_guess(request: Request, services: Services) -> None:
    """Counts a token or code that was wrong. Tells Redis."""
    services.limits.attempts.note(by_address(WRONG_TOKENS, request))


def this_address(request: Request, services: Services) -> str:
    """Path and query of a request as the browser has them, below the hub's address."""
    path = f"{services.settings.path_prefix}{request.scope['path']}"
    return address_path(path, request.url.query)


def _passing_session(method: SignInMethod, subject: str, now: datetime) -> BrowserSession:
    return BrowserSession(NO_SESSION, method, subject, None, now, now + LONGEST_PASS)


def _provider(settings: Settings) -> OidcProvider | None:
    if settings.auth != "oidc":
        return None
    client = Client(
        settings.oidc_client_id,
        settings.oidc_client_secret,
        settings.oidc_scopes,
        settings.oidc_groups_claim,
    )
    return OidcProvider(settings.oidc_issuer, client)


def _iap(settings: Settings) -> IapReader | None:
    if settings.auth != "iap":
        return None
    keys = PublishedKeys(PublishedDocument(settings.iap_keys_url).fetch)
    return IapReader(settings.iap_audience, keys)
