"""Signing out: of this hub at once, and then, if the person wants, of whoever vouches for people (adr/056).

A page of another site signs nobody out (`refuse_foreign_site`). The provider's session, or that of Google's
proxy, belongs to all that the person does there: a page says that it goes on and offers to end it. It is left
by a link, for browsers hold the redirects after a form to that form's page.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from auth.browser_sessions import NO_SESSION
from auth.oidc import SignInRefusedError
from server.audit.requests import SIGNED_OUT, record
from server.callers.access import refuse_foreign_site
from server.callers.browser_cookies import forget_signed_in, signed_in_cookie
from server.callers.iap import find_iap_person
from server.callers.signed_in import find_person
from server.callers.turned_away import SIGN_IN_PATH
from server.http.redirects import lead_to
from server.names import browser_session_name
from server.registry.browser_sessions import SqlBrowserSessions
from server.routes.sign_in import RUNS_PATH
from server.services import Services, ServicesDependency
from server.site.public_address import PageBase
from server.ui.signed_out_page import SignedOutPage, render_signed_out
from server.xprof.pages import html_response

router = APIRouter(include_in_schema=False)
logger = logging.getLogger(__name__)

SIGN_OUT_PATH = "/signout"
SIGNED_OUT_PATH = "/signedout"
_PROXY_SIGN_OUT = "/_gcp_iap/clear_login_cookie"
"""Answered by Google's proxy itself (cloud.google.com/iap/docs/sessions-howto); below no prefix of ours."""
_BACK_AGAIN = "provider"
"""What comes back with who has signed out at the provider, too; it changes words only."""


@router.post(SIGN_OUT_PATH)
def sign_out(request: Request, services: ServicesDependency) -> Response:
    """Ends the browser session, and with it the passes that it gave; the browser forgets it."""
    refuse_foreign_site(request)
    _end(request, services, datetime.now(UTC))
    response = lead_to(f"{services.settings.path_prefix}{SIGNED_OUT_PATH}", 303)
    forget_signed_in(response, request, services.settings)
    return response


@router.api_route(SIGNED_OUT_PATH, methods=["GET", "HEAD"])
def show(request: Request, services: ServicesDependency, base: PageBase) -> Response:
    """Says where the browser is signed in still; who has a browser session is led on to the runs."""
    prefix = services.settings.path_prefix
    person = find_person(request, services)
    if person is not None and person.session.id != NO_SESSION:
        return lead_to(f"{prefix}{RUNS_PATH}")
    is_back = request.query_params.get("state") == _BACK_AGAIN
    page = SignedOutPage(
        sign_in=f"{prefix}{SIGN_IN_PATH}",
        provider=services.sign_ins.provider.name if services.sign_ins.provider else "",
        provider_href="" if is_back else _provider_sign_out(services, base),
        is_out_of_provider=is_back,
        proxy_href=_PROXY_SIGN_OUT if services.sign_ins.iap else "",
    )
    return html_response(services.policies, render_signed_out(page), "words")


def _end(request: Request, services: Services, now: datetime) -> None:
    """Ends what the browser's cookie names, and writes it down; behind the proxy the passes of its person."""
    sessions = SqlBrowserSessions(services.database)
    text = signed_in_cookie(request, services.settings)
    session_id = services.sign_ins.seals.read_session(text, now) if text else None
    person = find_person(request, services)
    ended = 0
    if session_id is not None:
        sessions.end(session_id, now)
        ended = 1
    known = find_iap_person(request, services)
    if known is not None:
        ended += sessions.end_all_of(known.id, now)
    if person is not None and ended:
        name = browser_session_name(session_id or "-")
        record(request, services, person.principal, SIGNED_OUT, "sign_out", name)


def _provider_sign_out(services: Services, base: str) -> str:
    """Where one signs out at the provider; empty where it offers that nowhere, or says nothing now."""
    provider = services.sign_ins.provider
    if provider is None:
        return ""
    try:
        return provider.sign_out_address(f"{base}{SIGNED_OUT_PATH}", _BACK_AGAIN)
    except SignInRefusedError as problem:
        logger.warning("the provider does not say where people sign out: %s", problem)
        return ""
