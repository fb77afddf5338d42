"""`progress/<route>?<query>` under a link: how far the answer of a route is, for the page and for scripts.

Answers at once and has nothing made. The session comes from the link alone, as in `server.routes.xprof`.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

from server.links.redaction import answers_for
from server.routes.xprof import METHODS, PLACES, XPROF_PATH, Grant, first_values
from server.services import ServicesDependency
from server.xprof.progress import progress_response
from server.xprof.queries import DATA, request_of_route

routes = APIRouter(prefix=XPROF_PATH + "/progress", include_in_schema=False)
"""For `server.routes.xprof.at_all_places`."""


@routes.api_route("", methods=METHODS)
@routes.api_route("/", methods=METHODS)
async def data_progress(grant: Grant, request: Request, services: ServicesDependency) -> Response:
    """How far the answer of `data` to the same query is."""
    return await route_progress(DATA, grant, request, services)


@routes.api_route("/{route}", methods=METHODS)
async def route_progress(
    route: str, grant: Grant, request: Request, services: ServicesDependency
) -> Response:
    """How far the answer of a route to the same query is.

    Raises:
        LoaderError: NOT_FOUND for a route, tool or host that is not there, INVALID_REQUEST for a bad value.
    """
    answers = answers_for(services, grant)
    session = await answers.recall_session(grant.locations)
    query = first_values(request)
    progress = await answers.progress(session, lambda files: request_of_route(route, files, query))
    return progress_response(progress)


QUIET_ROUTES = tuple(
    place + route.path for place in PLACES for route in routes.routes if isinstance(route, APIRoute)
)
"""What a page asks every second or two while it waits: worth a count, and no line in the log."""
