"""Signing in with an API token, once for a browser.

A change that a page of another site asks for is refused (`refuse_foreign_site`), so nobody can be signed in
as somebody else. `next` leads to this hub's own pages only. Signing out: `server.routes.sign_out`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.browser_sessions import BrowserSession, session_by_token
from auth.identity import find_working_token
from auth.policy import Action, may
from server.audit.requests import record_sign_in
from server.callers.access import refuse_foreign_site
from server.callers.browser_cookies import set_signed_in, signed_in_cookie
from server.callers.iap import find_iap_person, no_role
from server.callers.signed_in import find_person, note_wrong_guess, seconds_to_wait
from server.callers.turned_away import SIGN_IN_PATH, provider_path
from server.http.local_paths import local_path
from server.http.redirects import lead_to
from server.links.passes import ENTRY
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.tokens import SqlTokenStore
from server.services import Services, ServicesDependency
from server.site.forms import read_form
from server.ui.sign_in_page import SignInPage, render_sign_in
from server.xprof.pages import html_response

router = APIRouter(include_in_schema=False)

RUNS_PATH = "/runs"
_UNKNOWN = "This is no API token that works here. Check that you have all of it."
_JOBS_ONLY = "This token lets a job register itself. To look at runs, use another one."
_TOO_MANY = "Too many wrong tokens came from your network. Try again in {seconds} seconds."


@router.api_route(SIGN_IN_PATH, methods=["GET", "HEAD"])
def show_form(request: Request, services: ServicesDependency) -> Response:
    """The form; who has signed in already is led on."""
    back = back_path(services, request.query_params.get("next", ""))
    if find_person(request, services) is not None:
        return lead_to(back)
    known = find_iap_person(request, services)
    return sign_in_page(services, back, refusal=no_role(known.email) if known else "")


@router.post(SIGN_IN_PATH)
async def sign_in(request: Request, services: ServicesDependency) -> Response:
    """Takes a token and leads on."""
    refuse_foreign_site(request)
    fields = await read_form(request)
    token = fields.get("token", "").strip()
    back = back_path(services, fields.get("next", ""))
    return await run_in_threadpool(_signed_in, request, services, token, back)


def begin(
    request: Request, services: Services, session: BrowserSession, back: str, status: int
) -> Response:
    """Keeps a browser session, and leads on with its cookie."""
    # Whoever signs in again leaves no session behind that a copy of the old cookie would open.
    old = services.sign_ins.seals.read_session(
        signed_in_cookie(request, services.settings), session.created
    )
    sessions = SqlBrowserSessions(services.database)
    if old is not None:
        sessions.end(old, session.created)
    sessions.add(session)
    response = lead_to(back, status)
    text = services.sign_ins.seals.write_session(session)
    set_signed_in(response, request, services.settings, text, session.expires)
    return response


def back_path(services: Services, wanted: str) -> str:
    """Where to go on: on this hub, whatever a stranger's address says."""
    prefix = services.settings.path_prefix
    return local_path(wanted, prefix, f"{prefix}{RUNS_PATH}")


def sign_in_page(
    services: Services, back: str, *, problem: str = "", refusal: str = "", status: int = 200
) -> Response:
    """The page to sign in.

    Args:
        services: whose page.
        back: where to go on afterwards.
        problem: what was wrong with the token.
        refusal: why nobody is signed in, when it is not about a token.
        status: of the answer.
    """
    prefix = services.settings.path_prefix
    provider = services.sign_ins.provider
    page = SignInPage(
        action=f"{prefix}{SIGN_IN_PATH}",
        back=back,
        problem=problem,
        provider=provider.name if provider else "",
        provider_href=provider_path(prefix, back),
        refusal=refusal,
        is_for_link=back.startswith((f"{prefix}/s/", f"{prefix}{ENTRY}/")),
    )
    return html_response(services.policies, render_sign_in(page), "form", status)


def _signed_in(request: Request, services: Services, token: str, back: str) -> Response:
    seconds = seconds_to_wait(request, services)
    if seconds:
        problem = _TOO_MANY.format(seconds=seconds)
        answer = sign_in_page(services, back, problem=problem, status=429)
        answer.headers["Retry-After"] = str(seconds)
        return answer
    now = datetime.now(UTC)
    found = find_working_token(SqlTokenStore(services.database), token, now)
    if found is None:
        note_wrong_guess(request, services)
        return sign_in_page(services, back, problem=_UNKNOWN, status=403)
    if not may(found.principal, Action.RUNS_READ, "machineLearningRuns"):
        return sign_in_page(services, back, problem=_JOBS_ONLY, status=403)
    lifetime = timedelta(hours=services.settings.sign_in_hours)
    session = session_by_token(found, now, lifetime)
    response = begin(request, services, session, back, 303)
    record_sign_in(request, services, found.principal, session)
    return response
