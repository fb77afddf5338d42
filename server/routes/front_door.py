"""Pages that belong to no session: the front door, the end of a link, the API's reference."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from server.http.redirects import lead_to
from server.routes.sign_in import RUNS_PATH
from server.services import ServicesDependency
from server.site.error_pages import signed_in_person
from server.ui.reference import render_front_door, render_reference
from server.xprof.pages import html_response

router = APIRouter(include_in_schema=False)
ROBOTS_PATH = "/robots.txt"
_ROBOTS = """\
# Pages may be asked for, for only a page can say that it must not be listed. Answers cost a conversion.
User-agent: *
Disallow: /*/data/plugin/profile/data
Disallow: /*/data/plugin/profile/graph_data
Disallow: /*/data/plugin/profile/timeline_data
Disallow: /*/data/plugin/profile/module_list
Disallow: /*/data/plugin/profile/run_tools
Disallow: /*/data/plugin/profile/status
Disallow: /*/data/plugin/profile/progress/
Disallow: /v1/
"""


@router.get("/")
def front_door(request: Request, services: ServicesDependency) -> Response:
    """Leads who has signed in to the runs, and says to everybody else what this is; lists nothing."""
    if signed_in_person(request) is not None:
        address = f"{services.settings.path_prefix}{RUNS_PATH}"
        return lead_to(address)
    text = render_front_door(services.settings.path_prefix)
    return html_response(services.policies, text, "words")


@router.get(ROBOTS_PATH)
def robots() -> Response:
    """What a search engine may ask for; that nothing may be listed stands in every answer's headers."""
    return PlainTextResponse(_ROBOTS)


@router.get("/docs")
def reference(request: Request, services: ServicesDependency) -> Response:
    """The API's reference, made from its OpenAPI document."""
    openapi = request.app.openapi()
    text = render_reference(openapi, services.settings.path_prefix)
    return html_response(services.policies, text, "words")
