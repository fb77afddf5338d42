"""Pages and static files under a link as HTTP answers; what they look like is `server.ui`'s matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool

from loader.catalog import SessionFiles
from loader.errors import ErrorCode, LoaderError
from server.http.coming_back import busy_page, let_come_back, seconds_of_page
from server.http.conditional import holds_etag
from server.http.error_table import answer_of
from server.http.revalidated import revalidated_response
from server.links.grants import SessionGrant
from server.services import Services
from server.ui.assets import Asset
from server.ui.glance import Glance
from server.ui.messages import FILES_AWAITED
from server.ui.page_data import PageData
from server.ui.policies import PageKind, Policies
from server.ui.shell import (
    LINK_UNKNOWN,
    SESSION_DAMAGED,
    SESSION_EMPTY,
    STORAGE_PROBLEM,
    ShellPage,
    render_figure,
    render_index,
)

_IMMUTABLE = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"


def html_response(policies: Policies, text: str, kind: PageKind, status: int = 200) -> Response:
    """A page with the policy of its kind; never stored, for it names what the link opens."""
    headers = {
        "Content-Security-Policy": policies.of(kind),
        "Cache-Control": "no-store",
    }
    return HTMLResponse(text, status, headers)


def index_response(
    services: Services,
    request: Request,
    grant: SessionGrant,
    session: SessionFiles,
    data: PageData,
    glance: Glance | None = None,
    asked_first: tuple[str, ...] = (),
) -> Response:
    """XProf's page; instead of it a message when it is plain already that no host can be shown."""
    if all(entry.file.size == 0 for entry in session.hosts):
        details = [f"{entry.file.name}: it is empty (0 bytes)." for entry in session.hosts]
        text = SESSION_DAMAGED.render(details)
        return html_response(services.policies, text, "message", 422)
    page = ShellPage(
        prefix=grant.prefix,
        assets=services.assets.hub.path,
        xprof_assets=services.assets.xprof.path,
        run=data.run,
        session=data.session,
        hosts=data.hosts,
        expires=f"link works until {grant.expires:%-d %B %Y}" if grant.expires else "",
        glance=glance,
        asked_first=asked_first,
        data=data,
    )
    headers = {"Content-Security-Policy": services.policies.of("index")}
    return revalidated_response(request, render_index(page), "text/html", headers)


def problem_response(
    request: Request, services: Services, error: LoaderError, *, awaits_files: bool
) -> Response:
    """A page of words for a session that can't be listed, whose files may still come or not."""
    empty = FILES_AWAITED if awaits_files else SESSION_EMPTY
    message = empty if error.code is ErrorCode.NOT_FOUND else STORAGE_PROBLEM
    answer = answer_of(error)
    if answer.retry_after is None:
        return html_response(
            services.policies, message.render([error.message]), "message", answer.http
        )
    seconds = seconds_of_page(answer.retry_after)
    busy = busy_page(
        request.method,
        message.title,
        message.text,
        seconds,
        names_request=message.names_request,
    )
    page = html_response(services.policies, busy.render([error.message]), "message", answer.http)
    let_come_back(request.method, page, answer.retry_after, seconds)
    return page


def figure_response(services: Services, kind: Literal["graph", "timeline"]) -> Response:
    """The page that draws a graph or the memory timeline."""
    text = render_figure(services.assets.hub.path, kind)
    return html_response(services.policies, text, "graph")


async def file_response(
    services: Services, request: Request, name: str, answer: Callable[[], Response]
) -> Response:
    """A static file; in a thread only if it must be read or compressed, for a change of threads costs more.

    Args:
        services: where the files are.
        request: what the browser sent.
        name: of the file.
        answer: makes the answer.
    """
    if services.assets.is_at_hand(name, request.headers.get("accept-encoding", "")):
        return answer()
    return await run_in_threadpool(answer)


def hashed_response(services: Services, request: Request, content_hash: str, name: str) -> Response:
    """A static file under its folder's hash, kept by browsers for good if the hash is the present one."""
    asset, is_present = services.assets.find_hashed(content_hash, name)
    cache_control = _IMMUTABLE if is_present else _REVALIDATE
    return _asset_response(services.policies, asset, request, cache_control)


def static_response(services: Services, request: Request, name: str) -> Response:
    """A static file by its plain name, as XProf's scripts ask for it."""
    asset = services.assets.find(name)
    return _asset_response(services.policies, asset, request, _REVALIDATE)


def _asset_response(
    policies: Policies, asset: Asset | None, request: Request, cache_control: str
) -> Response:
    if asset is None:
        if "text/html" in request.headers.get("accept", ""):
            return html_response(policies, LINK_UNKNOWN.render(), "message", 404)
        return PlainTextResponse("There is nothing at this address.", 404)
    chosen = asset.represent(request.headers.get("accept-encoding", ""))
    headers = {"ETag": chosen.etag, "Cache-Control": cache_control}
    if asset.encodings:
        headers["Vary"] = "Accept-Encoding"
    if asset.content_type.startswith("text/html"):
        headers["Content-Security-Policy"] = policies.of("trace")
    if holds_etag(request.headers.get("if-none-match"), chosen.etag):
        return Response(status_code=304, headers=headers)
    if chosen.encoding is not None:
        headers["Content-Encoding"] = chosen.encoding
    return Response(chosen.body, headers=headers, media_type=asset.content_type)
