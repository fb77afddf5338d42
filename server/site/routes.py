"""Routes of the pages for people who have signed in: who asks is known, and no other site changes anything.

Every such page is made by a router of `page_router`, finds its person with `person_who`, and answers with
`page_response`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from auth.policy import Action, collections_of
from server.audit.notes import note_actor, noted_actor
from server.audit.requests import may_be_change, write_change
from server.callers.access import refuse_foreign_site
from server.callers.signed_in import NothingThereError, Person, require_person
from server.http.errors import REFUSALS
from server.names import run_name, session_name
from server.services import Services, ServicesDependency, get_services
from server.site.error_pages import refusal_page
from server.site.framing import frame_of
from server.ui.site import render_page
from server.xprof.pages import html_response

Handler: TypeAlias = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route of a page: what a page of another site asks to be changed is refused before anything else.

    What is refused in the API's shape is told a browser as a page.
    What it changes is written down in the audit log; a form that was refused answers a status above 399.
    """

    def get_route_handler(self) -> Handler:
        """The handler, guarded."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                refuse_foreign_site(request)
                response = await inner(request)
            except REFUSALS as error:
                page = await run_in_threadpool(refusal_page, request, error)
                if page is None:
                    raise
                return page
            if may_be_change(request) and response.status_code < 400:
                await run_in_threadpool(_write_change, request)
            return response

        return handle


def page_router() -> APIRouter:
    """A router for pages."""
    return APIRouter(include_in_schema=False, route_class=PageRoute)


def person_who(action: Action) -> Callable[[Request, Services], Person]:
    """A dependency that gives the person at the browser, if they may do this to what the path names.

    It raises what `server.callers.signed_in.require_person` raises.
    """

    def find(request: Request, services: ServicesDependency) -> Person:
        person = require_person(request, services, action, _resource(request, action))
        note_actor(request, person.principal, action.value)
        # Nothing has such a name, and PostgreSQL can't even be asked for one.
        named = (*request.path_params.values(), *request.query_params.values())
        if any("\0" in str(value) for value in named):
            raise NothingThereError
        return person

    return find


def page_response(
    services: Services, person: Person, template: str, status: int = 200, **values: object
) -> Response:
    """A page made from a template of `server/ui/templates/site/`."""
    text = render_page(template, frame_of(services, person), **values)
    return html_response(services.policies, text, "site", status)


def _write_change(request: Request) -> None:
    actor = noted_actor(request)
    if actor is not None:
        resource = _resource(request, Action(actor.action))
        write_change(request, get_services(request), resource)


def _resource(request: Request, action: Action) -> str:
    """Name of the run or session in the path; of the action's collection where there is none."""
    values = request.path_params
    if "run" in values and "session" in values:
        return session_name(values["run"], values["session"])
    if "run" in values:
        return run_name(values["run"])
    return min(collections_of(action))
