"""Who looks at the pages that no link opens: people who have signed in, or all on a developer's machine.

`find_person` is the one place where that cookie becomes a principal, and asks the database at each request,
so that a revoked token shows nothing more. The API never asks here: what a page could be made to send along
with a cookie changes nothing and reads nothing there.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import Request

from auth.browser_sessions import (
    LONGEST_PASS,
    NO_TOKEN,
    BrowserSeals,
    BrowserSession,
    principal_of,
)
from auth.identity import LOCAL_ADMIN, Principal
from auth.policy import Action, may
from loader.redis_results import connect
from server.access import refuse_foreign_host
from server.browser_cookies import signed_in_cookie
from server.local_paths import address_path
from server.registry.tokens import SqlTokenStore
from server.services import Services
from server.settings import DEFAULT_SECRET, Settings
from server.sign_in_guesses import SignInGuesses
from server.sign_ins import SignIns


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
        session: how long, and by which token.
    """

    principal: Principal
    session: BrowserSession

    @property
    def has_signed_in(self) -> bool:
        """Whether there is something to sign out of."""
        return self.session.token_id != NO_TOKEN


def open_sign_ins(settings: Settings) -> SignIns:
    """What signing in needs.

    A secret that everybody knows would let everybody write a cookie: instead of the default there is a random
    one, with which people are signed in until the front end ends.
    """
    is_secret = settings.secret_key != DEFAULT_SECRET
    secret = settings.secret_key if is_secret else secrets.token_urlsafe(32)
    client = connect(settings.redis_url) if settings.redis_url else None
    return SignIns(BrowserSeals(secret), SignInGuesses(client))


def find_person(request: Request, services: Services) -> Person | None:
    """Who is at the browser, or None; blocks on the database.

    Raises:
        ApiError: 403 when a development server is asked by another name than this machine's.
    """
    now = datetime.now(UTC)
    if services.settings.auth == "dev":
        refuse_foreign_host(request)
        return Person(LOCAL_ADMIN, BrowserSession(NO_TOKEN, now + LONGEST_PASS))
    text = signed_in_cookie(request, services.settings)
    session = services.sign_ins.seals.read_session(text, now) if text else None
    if session is None:
        return None
    principal = principal_of(SqlTokenStore(services.database), session.token_id, now)
    return Person(principal, session) if principal else None


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
    return services.sign_ins.guesses.seconds_to_wait(_network_address(request))


def note_wrong_guess(request: Request, services: Services) -> None:
    """Counts a token or code that was wrong. Tells Redis."""
    services.sign_ins.guesses.note(_network_address(request))


def _network_address(request: Request) -> str:
    return request.client.host if request.client else ""


def this_address(request: Request, services: Services) -> str:
    """Path and query of a request as the browser has them, below the hub's address."""
    path = f"{services.settings.path_prefix}{request.scope['path']}"
    return address_path(path, request.url.query)
