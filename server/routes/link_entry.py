"""The short addresses of a link: they lead to XProf, at the view that the address or the link carries.

And the two places on the way: where a password is asked for, and where somebody who has signed in comes over
from the hub's host.
"""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.links import RunTarget, ShareLink
from auth.passwords import password_matches
from auth.policy import Action
from server.callers.access import refuse_foreign_site
from server.callers.signed_in import require_person
from server.http.local_paths import local_path
from server.http.redirects import lead_to
from server.limits.middleware import too_many_words
from server.limits.service import password_limits
from server.links.cookies import set_key
from server.links.gate import (
    UNLOCK,
    active_link,
    admitted,
    known_viewer,
    link_path,
)
from server.links.grants import WholeRun, page_grant
from server.links.passes import ENTRY, enter, lead_over
from server.links.targets import target_name
from server.registry.records import ProfilerSession
from server.registry.sessions import find_session_of_run
from server.routes.xprof import METHODS, XPROF_PATH
from server.services import Services, ServicesDependency
from server.site.forms import read_form
from server.ui.link_pages import render_unlock
from server.ui.shell import RUN_EMPTY
from server.xprof.pages import html_response
from server.xprof.views import View, query_of, stored_view

router = APIRouter(include_in_schema=False)

_WRONG = "This is not the password of this link. Mind capitals and small letters."
_KEEPS_ASKING = "Too many wrong passwords were tried."


@router.api_route("/s/{token}/sessions/{session}", methods=METHODS)
@router.api_route("/s/{token}/sessions/{session}/", methods=METHODS)
@router.api_route("/s/{token}/sessions/{session}" + XPROF_PATH, methods=METHODS)
def open_session(request: Request, services: ServicesDependency) -> Response:
    """Leads to XProf for a session of the link's run."""
    grant = page_grant(request, services)
    view = stored_view(grant.link.view) if grant.link else View()
    is_other = view.session not in {"", grant.session_id}
    return _to_xprof(grant.prefix, request, View(tool=view.tool) if is_other else view)


@router.api_route("/s/{token}", methods=METHODS)
@router.api_route("/s/{token}/", methods=METHODS)
@router.api_route("/s/{token}/sessions", methods=METHODS)
@router.api_route("/s/{token}/sessions/", methods=METHODS)
@router.api_route("/s/{token}" + XPROF_PATH, methods=METHODS)
def open_link(token: str, request: Request, services: ServicesDependency) -> Response:
    """Leads to XProf; under a link to a run for the session that its view names, or the newest."""
    link = admitted(request, services, token).link
    if not isinstance(link.target, RunTarget):
        grant = page_grant(request, services)
        return _to_xprof(grant.prefix, request, stored_view(link.view))
    session, view = _first_session(services, link, link.target)
    if session is None:
        return _empty_run(services, link.target)
    run = WholeRun(link.target.uid, link_path(services, token))
    return _to_xprof(run.session_prefix(session.id), request, view)


@router.api_route("/s/{token}" + UNLOCK, methods=METHODS)
def ask_password(token: str, request: Request, services: ServicesDependency) -> Response:
    """The form for a link's password; who needs none is led on."""
    link = known_viewer(request, services, token).link
    back = request.query_params.get("next", "")
    if not link.has_password:
        return lead_to(_target(services, token, back))
    return _form(request, services, token, back)


@router.post("/s/{token}" + UNLOCK)
async def unlock(token: str, request: Request, services: ServicesDependency) -> Response:
    """Takes a password and leads on."""
    refuse_foreign_site(request)
    fields = await read_form(request)
    link = (await run_in_threadpool(known_viewer, request, services, token)).link
    back = fields.get("next", "")
    if not link.has_password:
        return lead_to(_target(services, token, back), 303)
    limits = password_limits(request, link.id)
    seconds = await run_in_threadpool(services.limits.attempts.take, *limits)
    if seconds:
        services.limits.refused(limits[0].limit.name)
        answer = _form(request, services, token, back, too_many_words(_KEEPS_ASKING, seconds), 429)
        answer.headers["Retry-After"] = str(seconds)
        return answer
    # Each comparison takes 16 MB: not as many at once as there are threads.
    is_right = await to_thread.run_sync(
        password_matches,
        fields.get("password", ""),
        link.password_hash,
        limiter=services.threads.passwords,
    )
    if not is_right:
        return _form(request, services, token, back, _WRONG, 403)
    await run_in_threadpool(services.limits.attempts.give_back, *limits)
    response = lead_to(_target(services, token, back), 303)
    sealed = services.link_seals.write_key(link, datetime.now(UTC))
    set_key(response, request, services.settings, sealed, link_path(services, token))
    return response


@router.api_route(ENTRY + "/{token}", methods=METHODS)
@router.api_route(ENTRY + "/{token}/{rest:path}", methods=METHODS)
def begin(token: str, request: Request, services: ServicesDependency, rest: str = "") -> Response:
    """On the hub's host: finds out who opens a link that asks for that, and leads to where links are."""
    link = active_link(services, token)
    person = require_person(request, services, Action.SESSIONS_READ, target_name(link.target))
    path, below = link_path(services, token), f"/{rest}" if rest else ""
    if not services.settings.content_url:
        return lead_to(_target(services, token, below))
    raise lead_over(request, services, person, link, path, below)


@router.api_route("/s/{token}" + ENTRY, methods=METHODS)
@router.api_route("/s/{token}" + ENTRY + "/{rest:path}", methods=METHODS)
def come_over(
    token: str, request: Request, services: ServicesDependency, rest: str = ""
) -> Response:
    """On the content host: takes a hand-over."""
    link, below = active_link(services, token), f"/{rest}" if rest else ""
    return enter(request, services, token, link, link_path(services, token), below)


def _first_session(
    services: Services, link: ShareLink, target: RunTarget
) -> tuple[ProfilerSession | None, View]:
    """The session that a link to a run opens first, and what it shows of it."""
    view = stored_view(link.view)
    if view.session:
        named = find_session_of_run(services.database, target.uid, view.session)
        if named is not None:
            return named, view
        # Hosts, op and range were those of the session that is gone.
        view = View(tool=view.tool)
    return find_session_of_run(services.database, target.uid), view


def _to_xprof(prefix: str, request: Request, view: View) -> Response:
    """An address that says itself what to show wins over the link's view."""
    query = request.url.query or query_of(view)
    mark = "?" if query else ""
    return lead_to(f"{prefix}{XPROF_PATH}/{mark}{query}")


def _empty_run(services: Services, target: RunTarget) -> Response:
    command = f"xprof-hub sessions attach {shlex.quote(target.run)} gs://bucket/path/to/the/profile"
    return html_response(services.policies, RUN_EMPTY.render([command]), "message", 404)


def _target(services: Services, token: str, back: str) -> str:
    """Where to go on below a link; its beginning for what leads anywhere else."""
    path = link_path(services, token)
    return local_path(f"{path}{back}", path, path) if back.startswith("/") else path


def _form(
    request: Request,
    services: Services,
    token: str,
    back: str,
    problem: str = "",
    status: int = 200,
) -> Response:
    action = f"{link_path(services, token)}{UNLOCK}"
    is_framed = request.headers.get("sec-fetch-dest", "") in {"iframe", "frame"}
    text = render_unlock(action, back, problem, is_framed=is_framed)
    return html_response(services.policies, text, "unlock", status)
