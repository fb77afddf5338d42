"""The short addresses of a link: they lead to XProf, at the view that the address or the link carries."""

from __future__ import annotations

import shlex

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from auth.links import RunTarget, ShareLink
from server.grants import WholeRun, active_link, link_path, session_grant
from server.registry.records import ProfilerSession
from server.registry.sessions import find_session_of_run
from server.routes.xprof import METHODS, XPROF_PATH
from server.services import Services, ServicesDependency
from server.ui.shell import RUN_EMPTY
from server.views import View, query_of, stored_view
from server.xprof_pages import html_response

router = APIRouter(include_in_schema=False)


@router.api_route("/s/{token}/sessions/{session}", methods=METHODS)
@router.api_route("/s/{token}/sessions/{session}/", methods=METHODS)
@router.api_route("/s/{token}/sessions/{session}" + XPROF_PATH, methods=METHODS)
def open_session(request: Request, services: ServicesDependency) -> Response:
    """Leads to XProf for a session of the link's run."""
    grant = session_grant(request, services)
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
    link = active_link(services, token)
    if not isinstance(link.target, RunTarget):
        grant = session_grant(request, services)
        return _to_xprof(grant.prefix, request, stored_view(link.view))
    session, view = _first_session(services, link, link.target)
    if session is None:
        return _empty_run(services, link.target)
    run = WholeRun(link.target.uid, link_path(services, token))
    return _to_xprof(run.session_prefix(session.id), request, view)


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
    return RedirectResponse(f"{prefix}{XPROF_PATH}/{mark}{query}", 302)


def _empty_run(services: Services, target: RunTarget) -> Response:
    command = f"xprof-hub sessions attach {shlex.quote(target.run)} gs://bucket/path/to/the/profile"
    return html_response(services.policies, RUN_EMPTY.render([command]), "message", 404)
