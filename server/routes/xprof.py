"""XProf under a link: the routes that XProf's UI asks, pinned to one session.

The session comes from the path alone (`server.links.grants`). `run`, `session_path`, `run_path` and
`base_session_id` are never read, hosts and modules must be the session's own, unknown parameters are dropped,
and what XProf offers besides (capture, cache generation, local files) does not
exist here.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from auth.links import ShareLink
from loader.engine.base import XPROF_VERSION
from loader.errors import LoaderError
from loader.hosts import host_menu
from loader.tools import TOOLS, tool_named
from server.http.redirects import lead_to
from server.http.revalidated import revalidated_response
from server.links.gate import require_opened
from server.links.grants import SessionGrant, page_grant, session_grant
from server.links.openings import keep_opening, note_opening
from server.links.redaction import answers_for, redaction_of
from server.links.shared_page import page_data
from server.services import Services, ServicesDependency
from server.sessions.inspection import inspect_session
from server.sessions.status import missing_hosts, status_of_failure, status_of_session
from server.ui.page_data import PageData
from server.xprof.asked_first import asked_first
from server.xprof.first_glance import first_glance, opened_tool
from server.xprof.pages import (
    figure_response,
    file_response,
    index_response,
    problem_response,
    static_response,
)
from server.xprof.queries import DATA, TIMELINE, request_of_route

XPROF_PATH = "/data/plugin/profile"
PLACES = ("/s/{token}", "/s/{token}/sessions/{session}", "/runs/{run}/sessions/{session}")
"""Where XProf lives: under a link to a session, for each session under a link to a run, and for people who
have signed in."""
METHODS = ["GET", "HEAD"]
_NEVER_STALE = {"Cache-Control": "no-cache"}
"""A browser asks before it uses what it has kept, so that a link that is revoked shows nothing more."""
_XPROF_LOST = "empty"
"""Where XProf's page goes when it could not list the tools; opened again, it should try again."""
_UNSAFE_IN_FILE_NAME = re.compile(r"[^\w.@-]+")

Grant = Annotated[SessionGrant, Depends(session_grant)]
PageGrant = Annotated[SessionGrant, Depends(page_grant)]

routes = APIRouter(prefix=XPROF_PATH, include_in_schema=False)
"""For `at_all_places`."""


def at_all_places(below: APIRouter) -> APIRouter:
    """A router with these routes at each of `PLACES`.

    Including a router with a prefix would do too, but then log and metrics know routes by their inner paths.
    """
    placed = APIRouter(include_in_schema=False)
    for place in PLACES:
        for route in below.routes:
            if isinstance(route, APIRoute):
                path, methods = place + route.path, sorted(route.methods or ())
                placed.add_api_route(path, route.endpoint, methods=methods)
    return placed


def first_values(request: Request) -> dict[str, str]:
    """The query with the first value of each name, as XProf's own server reads it."""
    values: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        values.setdefault(name, value)
    return values


@routes.api_route("/runs", methods=METHODS)
async def runs(grant: Grant) -> Response:
    """XProf's list of sessions, which it calls runs: this one."""
    return _small_json([grant.session_id])


@routes.api_route("/config", methods=METHODS)
async def config(_grant: Grant) -> Response:
    """XProf's UI options: nothing is captured here."""
    return _small_json(
        {"hideCaptureProfileButton": True, "srcPathPrefix": "", "enableTabNameLabel": False}
    )


@routes.api_route("/version", methods=METHODS)
async def version(_grant: Grant) -> Response:
    """XProf's version."""
    return PlainTextResponse(XPROF_VERSION, headers=_NEVER_STALE)


@routes.api_route("/hosts", methods=METHODS)
async def hosts(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The host menu of a tool; empty rather than an error, which would stop XProf's UI for good."""
    try:
        tool = tool_named(first_values(request).get("tag", ""))
        session = await answers_for(services, grant).list_session(grant.locations)
    except LoaderError:
        return _small_json([])
    return _small_json([{"hostname": host} for host in host_menu(tool, session.host_names)])


@routes.api_route("/run_tools", methods=METHODS)
async def run_tools(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The tools that XProf can show for this session."""
    return await answer_route("run_tools", grant, request, services)


@routes.api_route("/module_list", methods=METHODS)
async def module_list(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The session's HLO modules, comma-separated."""
    return await answer_route("module_list", grant, request, services)


async def answer_route(
    route: str,
    grant: SessionGrant,
    request: Request,
    services: Services,
    file_name: str | None = None,
) -> Response:
    """What a route of XProf answers for the session that the grant names.

    Raises:
        LoaderError: why there is no answer.
    """
    answers = answers_for(services, grant)
    query = first_values(request)
    session, plan = await answers.list_and_plan(
        grant.locations, lambda files: request_of_route(route, files, query)
    )
    are_all = plan.request.hosts is None
    notes = missing_hosts(grant.expected_hosts, session) if are_all else ()
    return await answers.respond(request, plan, file_name, notes)


@routes.api_route("/data", methods=METHODS)
async def data(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """One tool's data; graph and memory timeline, which XProf answers as HTML, become pages of ours."""
    query = first_values(request)
    tool = query.get("tag", "")
    if tool == "graph_viewer" and query.get("type") == "graph":
        return figure_response(services, "graph")
    if tool == "memory_viewer" and query.get(TIMELINE):
        return figure_response(services, "timeline")
    return await answer_route(DATA, grant, request, services)


@routes.api_route("/graph_data", methods=METHODS)
async def graph_data(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """What the graph page draws: `{"dot": ...}`."""
    return await answer_route("graph_data", grant, request, services)


@routes.api_route("/timeline_data", methods=METHODS)
async def timeline_data(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """What the memory timeline page draws."""
    return await answer_route("timeline_data", grant, request, services)


@routes.api_route("/data_csv", methods=METHODS)
async def data_csv(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """A tool's table as a CSV file."""
    query = first_values(request)
    tool = tool_named(query.get("tag", "")).name
    name = _UNSAFE_IN_FILE_NAME.sub("_", f"{tool}_{grant.session_id}_{query.get('host', '')}")
    return await answer_route("data_csv", grant, request, services, f"{name.strip('_')}.csv")


@routes.api_route("/status", methods=METHODS)
async def status(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """What can be seen of this session, and why not the rest; always answers 200."""
    answers = answers_for(services, grant)
    try:
        session = await answers.list_session(grant.locations)
        rows = await inspect_session(answers, session)
    except LoaderError as error:
        found = status_of_failure(error)
    else:
        found = status_of_session(session, rows, grant.expected_hosts)
    return revalidated_response(request, found.model_dump_json(), "application/json", {})


@routes.api_route("/{name:path}", methods=METHODS)
async def page(
    name: str, grant: PageGrant, request: Request, services: ServicesDependency
) -> Response:
    """The index for XProf's own addresses, or one of its static files by its plain name."""
    if name == _XPROF_LOST:
        place = f"{grant.prefix}{XPROF_PATH}/"
        return lead_to(place)
    if name not in {"", "index.html"} and name.rstrip("/") not in TOOLS:
        if grant.link is not None:
            require_opened(request, services, grant.link)
        answer = partial(static_response, services, request, name)
        return await file_response(services, request, name, answer)
    try:
        session = await answers_for(services, grant).list_session(grant.locations)
    except LoaderError as error:
        return problem_response(request, services, error, awaits_files=grant.awaits_files)
    counted, known = await run_in_threadpool(
        _note_and_read, request, services, grant, len(session.hosts)
    )
    query = first_values(request)
    tool = opened_tool(name, query)
    glance = await first_glance(services, session, tool, query, redaction_of(services, grant))
    asked = asked_first(grant.session_id, session, tool, query)
    response = index_response(services, request, grant, session, known, glance, asked)
    return response if counted is None else keep_opening(response, request, services, counted)


def _note_and_read(
    request: Request, services: Services, grant: SessionGrant, hosts: int
) -> tuple[ShareLink | None, PageData]:
    """Counts an opening, and gathers what the page says; both ask the database, so in one thread.

    Raises:
        LinkEndedError: as `note_opening`.
    """
    return note_opening(request, services, grant), page_data(services, grant, hosts)


def _small_json(content: object) -> Response:
    return JSONResponse(content, headers=_NEVER_STALE)
