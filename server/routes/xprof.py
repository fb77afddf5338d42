"""XProf under a link: the routes that XProf's UI asks, pinned to one session.

The session comes from the link alone. `run`, `session_path`, `run_path` and `base_session_id` are never read,
hosts and modules must be the session's own, unknown parameters are dropped, and what XProf offers besides
(capture, cache generation, local files) does not exist here.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from auth.links import ShareLink, count_open
from loader.catalog import SessionFiles
from loader.engine.base import XPROF_VERSION
from loader.errors import LoaderError
from loader.hosts import host_menu
from loader.keys import ToolRequest
from loader.tools import HEALTH, MODULE_LIST, RUN_TOOLS, TOOLS, tool_named
from server.grants import SessionGrant, link_grant, run_title
from server.registry.links import SqlLinkStore
from server.services import Services, ServicesDependency
from server.tool_answers import ToolAnswers, read_tool_request
from server.xprof_pages import (
    figure_response,
    immutable_response,
    index_response,
    problem_response,
    static_response,
)

XPROF_PATH = "/data/plugin/profile"
METHODS = ["GET", "HEAD"]
_TIMELINE = "view_memory_allocation_timeline"
logger = logging.getLogger(__name__)
_UNSAFE_IN_FILE_NAME = re.compile(r"[^\w.@-]+")

Grant = Annotated[SessionGrant, Depends(link_grant)]

entry = APIRouter(include_in_schema=False)
router = APIRouter(prefix="/s/{token}" + XPROF_PATH, include_in_schema=False)


def first_values(request: Request) -> dict[str, str]:
    """The query with the first value of each name, as XProf's own server reads it."""
    values: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        values.setdefault(name, value)
    return values


@entry.api_route("/s/{token}", methods=METHODS)
@entry.api_route("/s/{token}/", methods=METHODS)
@entry.api_route("/s/{token}" + XPROF_PATH, methods=METHODS)
def open_link(grant: Grant, request: Request) -> Response:
    """Leads to XProf, keeping a view that the address carries."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{grant.prefix}{XPROF_PATH}/{query}", 302)


@router.api_route("/runs", methods=METHODS)
def runs(grant: Grant) -> Response:
    """XProf's list of sessions, which it calls runs: this one."""
    return _small_json([grant.session_id])


@router.api_route("/config", methods=METHODS)
def config(_grant: Grant) -> Response:
    """XProf's UI options: nothing is captured here."""
    return _small_json(
        {"hideCaptureProfileButton": True, "srcPathPrefix": "", "enableTabNameLabel": False}
    )


@router.api_route("/version", methods=METHODS)
def version(_grant: Grant) -> Response:
    """XProf's version."""
    return PlainTextResponse(XPROF_VERSION, headers={"Cache-Control": "no-cache"})


@router.api_route("/hosts", methods=METHODS)
async def hosts(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The host menu of a tool; empty rather than an error, which would stop XProf's UI for good."""
    try:
        tool = tool_named(first_values(request).get("tag", ""))
        session = await ToolAnswers(services).list_session(grant.locations)
    except LoaderError:
        return _small_json([])
    return _small_json([{"hostname": host} for host in host_menu(tool, session.host_names)])


@router.api_route("/run_tools", methods=METHODS)
async def run_tools(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The tools that XProf can show for this session."""
    return await _own_tool(grant, request, services, RUN_TOOLS)


@router.api_route("/module_list", methods=METHODS)
async def module_list(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The session's HLO modules, comma-separated."""
    return await _own_tool(grant, request, services, MODULE_LIST)


async def _own_tool(
    grant: SessionGrant, request: Request, services: Services, tool: str
) -> Response:
    answers = ToolAnswers(services)
    session = await answers.list_session(grant.locations)
    return await answers.respond(request, session, ToolRequest(session.locations, tool))


@router.api_route("/data", methods=METHODS)
async def data(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """One tool's data; graph and memory timeline, which XProf answers as HTML, become pages of ours."""
    query = first_values(request)
    tool = query.get("tag", "")
    if tool == "graph_viewer" and query.get("type") == "graph":
        return figure_response(services, grant, "graph")
    if tool == "memory_viewer" and query.get(_TIMELINE):
        return figure_response(services, grant, "timeline")
    return await _tool_data(grant, request, services, query)


@router.api_route("/graph_data", methods=METHODS)
async def graph_data(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """What the graph page draws: `{"dot": ...}`."""
    query = {**first_values(request), "tag": "graph_viewer", "type": "graph"}
    return await _tool_data(grant, request, services, query)


@router.api_route("/timeline_data", methods=METHODS)
async def timeline_data(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """What the memory timeline page draws."""
    query = {**first_values(request), "tag": "memory_viewer", _TIMELINE: "true"}
    return await _tool_data(grant, request, services, query)


async def _tool_data(
    grant: SessionGrant, request: Request, services: Services, query: Mapping[str, str]
) -> Response:
    answers = ToolAnswers(services)
    session = await answers.list_session(grant.locations)
    tool_request = await run_in_threadpool(read_tool_request, session, query.get("tag", ""), query)
    return await answers.respond(request, session, tool_request)


@router.api_route("/data_csv", methods=METHODS)
async def data_csv(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """A tool's table as a CSV file."""
    query = first_values(request)
    answers = ToolAnswers(services)
    session = await answers.list_session(grant.locations)
    asked = await run_in_threadpool(read_tool_request, session, query.get("tag", ""), query)
    as_table = replace(asked, as_csv=True)
    name = _UNSAFE_IN_FILE_NAME.sub("_", f"{asked.tool}_{grant.session_id}_{query.get('host', '')}")
    return await answers.respond(request, session, as_table, f"{name.strip('_')}.csv")


@router.api_route("/status", methods=METHODS)
async def status(grant: Grant, services: ServicesDependency) -> Response:
    """What can be seen of this session, and why not the rest; always answers 200."""
    answers = ToolAnswers(services)
    try:
        session = await answers.list_session(grant.locations)
        health = await answers.read_json(session, ToolRequest(session.locations, HEALTH))
    except LoaderError as error:
        problem = {"host": None, "file": error.file, "reason": error.code, "message": error.message}
        return _small_json({"state": "problem", "hosts": [], "problems": [problem]})
    return _small_json(_status_of(session, health))


def _status_of(session: SessionFiles, health: object) -> dict[str, object]:
    rows = health["hosts"] if isinstance(health, dict) else []
    problems = [
        {key: row[key] for key in ("host", "file", "reason", "message")}
        for row in rows
        if not row["usable"]
    ]
    warnings = [
        {"host": row["host"], "file": row["file"], "message": text}
        for row in rows
        if row["usable"]
        for text in row["warnings"]
    ]
    return {
        "state": "problem" if problems else "ok",
        "hosts": list(session.host_names),
        "problems": problems,
        "warnings": warnings,
    }


@router.api_route("/_assets/{content_hash}/{name:path}", methods=METHODS)
def asset(
    content_hash: str, name: str, _grant: Grant, request: Request, services: ServicesDependency
) -> Response:
    """A static file under its content's hash, kept by the browser for good."""
    return immutable_response(services, request, content_hash, name)


@router.api_route("/{name:path}", methods=METHODS)
async def page(name: str, grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """The index for XProf's own addresses, or one of its static files by its plain name."""
    if name not in {"", "index.html"} and name.rstrip("/") not in TOOLS:
        return await run_in_threadpool(static_response, services, request, name)
    try:
        session = await ToolAnswers(services).list_session(grant.locations)
    except LoaderError as error:
        return problem_response(error)
    if request.method == "GET" and grant.link is not None:
        await run_in_threadpool(_count, services, grant.link)
    run = await run_in_threadpool(run_title, services, grant)
    return index_response(services, grant, session, run)


def _count(services: Services, link: ShareLink) -> None:
    """Counts one opening; the page does not wait for a database in trouble to be counted."""
    try:
        count_open(SqlLinkStore(services.database), link, datetime.now(UTC))
    except SQLAlchemyError as problem:
        logger.warning("an opening of a link was not counted: %s", type(problem).__name__)


def _small_json(content: object) -> Response:
    return JSONResponse(content, headers={"Cache-Control": "no-cache"})
