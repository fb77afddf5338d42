"""Signing in with an API token, once for a browser, and signing out.

A change that a page of another site asks for is refused (`refuse_foreign_site`), so nobody can be signed in
as somebody else, or out. `next` leads to this hub's own pages only.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from auth.browser_sessions import BrowserSession, begin_session, principal_of
from auth.policy import Action, may
from server.access import refuse_foreign_site
from server.browser_cookies import forget_signed_in, set_signed_in
from server.forms import read_form
from server.local_paths import local_path
from server.registry.tokens import SqlTokenStore
from server.services import Services, ServicesDependency
from server.signed_in import find_person, note_wrong_guess, seconds_to_wait
from server.turned_away import SIGN_IN_PATH
from server.ui.run_pages import render_sign_in
from server.xprof_pages import html_response

router = APIRouter(include_in_schema=False)

SIGN_OUT_PATH = "/signout"
RUNS_PATH = "/runs"
_UNKNOWN = "This is no API token that works here. Check that you have all of it."
_JOBS_ONLY = "This token lets a job register itself. To look at runs, use another one."
_TOO_MANY = "Too many wrong tokens came from your network. Try again in {seconds} seconds."


@router.api_route(SIGN_IN_PATH, methods=["GET", "HEAD"])
def show_form(request: Request, services: ServicesDependency) -> Response:
    """The form; who has signed in already is led on."""
    back = _back(services, request.query_params.get("next", ""))
    if find_person(request, services) is not None:
        return RedirectResponse(back, 302, {"Cache-Control": "no-store"})
    return _form(services, back)


@router.post(SIGN_IN_PATH)
async def sign_in(request: Request, services: ServicesDependency) -> Response:
    """Takes a token and leads on."""
    refuse_foreign_site(request)
    fields = await read_form(request)
    token = fields.get("token", "").strip()
    back = _back(services, fields.get("next", ""))
    return await run_in_threadpool(_signed_in, request, services, token, back)


@router.post(SIGN_OUT_PATH)
def sign_out(request: Request, services: ServicesDependency) -> Response:
    """Lets the browser forget who has signed in."""
    refuse_foreign_site(request)
    place = f"{services.settings.path_prefix}{SIGN_IN_PATH}"
    response = RedirectResponse(place, 303, {"Cache-Control": "no-store"})
    forget_signed_in(response, request, services.settings)
    return response


def _signed_in(request: Request, services: Services, token: str, back: str) -> Response:
    seconds = seconds_to_wait(request, services)
    if seconds:
        answer = _form(services, back, _TOO_MANY.format(seconds=seconds), 429)
        answer.headers["Retry-After"] = str(seconds)
        return answer
    settings, now = services.settings, datetime.now(UTC)
    lifetime = timedelta(hours=settings.sign_in_hours)
    session = begin_session(SqlTokenStore(services.database), token, now, lifetime)
    if session is None:
        note_wrong_guess(request, services)
        return _form(services, back, _UNKNOWN, 403)
    if not _may_look(services, session, now):
        return _form(services, back, _JOBS_ONLY, 403)
    response = RedirectResponse(back, 303, {"Cache-Control": "no-store"})
    text = services.sign_ins.seals.write_session(session)
    set_signed_in(response, request, settings, text, session.expires)
    return response


def _may_look(services: Services, session: BrowserSession, now: datetime) -> bool:
    principal = principal_of(SqlTokenStore(services.database), session.token_id, now)
    return may(principal, Action.RUNS_READ, "machineLearningRuns")


def _form(services: Services, back: str, problem: str = "", status: int = 200) -> Response:
    action = f"{services.settings.path_prefix}{SIGN_IN_PATH}"
    text = render_sign_in(action, back, problem)
    return html_response(services.policies, text, "form", status)


def _back(services: Services, wanted: str) -> str:
    prefix = services.settings.path_prefix
    return local_path(wanted, prefix, f"{prefix}{RUNS_PATH}")
