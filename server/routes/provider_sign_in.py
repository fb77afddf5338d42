"""Signing in at the provider (OpenID Connect): the way there, and the way back.

The way there may be begun by any page, for it signs nobody in but whoever the provider knows in this browser.
The way back counts once, and only in the browser that began: a sealed cookie holds what must come back
(`auth.oidc.Attempt`), so nobody can be signed in as somebody else by an address.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from fastapi import APIRouter, Request, Response

from auth.browser_sessions import SignInMethod, session_of_person
from auth.members import KnownPerson, members_for, principal_of_person
from auth.oidc import SignInRefusal, SignInRefusedError, new_attempt
from server.audit.requests import record_sign_in
from server.callers.browser_cookies import attempt_cookie, forget_attempt, set_attempt
from server.callers.iap import no_role
from server.callers.oidc_provider import OidcProvider
from server.callers.signed_in import NothingThereError
from server.callers.turned_away import CALLBACK_PATH, PROVIDER_PATH
from server.http.redirects import lead_to
from server.registry.members import memberships_of
from server.routes.sign_in import RUNS_PATH, back_path, begin, sign_in_page
from server.services import Services, ServicesDependency
from server.site.public_address import PageBase
from server.ui.sign_in_page import REFUSALS

router = APIRouter(include_in_schema=False)
logger = logging.getLogger(__name__)

_STATUS: Mapping[SignInRefusal, int] = MappingProxyType(
    {
        SignInRefusal.STALE: 400,
        SignInRefusal.UNAVAILABLE: 503,
        SignInRefusal.PROVIDER_ERROR: 502,
    }
)


@router.get(PROVIDER_PATH)
def leave(request: Request, services: ServicesDependency, base: PageBase) -> Response:
    """Leads to the provider."""
    provider = _provider(services)
    back = back_path(services, request.query_params.get("next", ""))
    otherwise = f"{services.settings.path_prefix}{RUNS_PATH}"
    attempt = new_attempt(back, otherwise, datetime.now(UTC))
    try:
        address = provider.address_for(attempt, f"{base}{CALLBACK_PATH}")
    except SignInRefusedError as problem:
        return _refused(services, back, problem)
    response = lead_to(address)
    text = services.sign_ins.attempts.write(attempt)
    set_attempt(response, request, services.settings, text, attempt.enter_by)
    return response


@router.get(CALLBACK_PATH)
def come_back(request: Request, services: ServicesDependency, base: PageBase) -> Response:
    """Signs in whom the provider vouches for."""
    provider, now = _provider(services), datetime.now(UTC)
    text = attempt_cookie(request, services.settings)
    attempt = services.sign_ins.attempts.read(text, now) if text else None
    # It stood in a cookie, which older hubs and other prefixes of this host may have written.
    back = back_path(services, attempt.back if attempt else "")
    query = dict(request.query_params)
    try:
        person = provider.person_of_answer(query, attempt, f"{base}{CALLBACK_PATH}")
    except SignInRefusedError as problem:
        response = _refused(services, back, problem)
    else:
        response = _sign_in(request, services, person, back)
    forget_attempt(response, request, services.settings)
    return response


def _sign_in(request: Request, services: Services, person: KnownPerson, back: str) -> Response:
    memberships = memberships_of(services.database, members_for(person))
    principal = principal_of_person(person, memberships, services.sign_ins.admins)
    if principal is None:
        return sign_in_page(services, back, refusal=no_role(person.email), status=403)
    lifetime = timedelta(hours=services.settings.sign_in_hours)
    session = session_of_person(person, SignInMethod.OIDC, datetime.now(UTC), lifetime)
    response = begin(request, services, session, back, 302)
    record_sign_in(request, services, principal, session)
    return response


def _refused(services: Services, back: str, problem: SignInRefusedError) -> Response:
    logger.warning("nobody was signed in by the provider: %s", problem)
    status = _STATUS.get(problem.refusal, 403)
    return sign_in_page(services, back, refusal=REFUSALS[problem.refusal], status=status)


def _provider(services: Services) -> OidcProvider:
    """The hub's provider.

    Raises:
        NothingThereError: it has none.
    """
    provider = services.sign_ins.provider
    if provider is None:
        raise NothingThereError
    return provider
