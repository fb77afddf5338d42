"""The page about a session, and the ways from there into its XProf.

`/runs/{run}/sessions/{session}` is the page; with a query it is an address of XProf, as people copied it
before there was a page, and leads there. The page is on the hub's own host; XProf itself
(`server.routes.xprof`) on the content host if there is one.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.policy import Action
from server.callers.session_passes import ENTER, enter
from server.callers.signed_in import Person
from server.figures.freshness import Wish
from server.http.redirects import lead_to
from server.links.grants import session_grant
from server.routes.xprof import METHODS, XPROF_PATH
from server.services import Services, ServicesDependency
from server.session_pages.commenting import comments_of_session
from server.session_pages.figures import FIRST_HOSTS
from server.session_pages.finding import require_session
from server.session_pages.hosts import HostsPart, look_at_hosts
from server.session_pages.page import session_page
from server.site.routes import page_response, page_router, person_who

router = page_router()

SESSION_PATH = "/runs/{run}/sessions/{session}"
MOST_LOOKS = 60
"""How often an open page asks again for what is being made."""
_LOOK_SECONDS = 3

Reader = Annotated[Person, Depends(person_who(Action.SESSIONS_READ))]
_Looks = Annotated[int, Query(ge=0, le=MOST_LOOKS)]


@router.api_route(SESSION_PATH, methods=METHODS)
@router.api_route(SESSION_PATH + "/", methods=METHODS)
def show_session(
    request: Request, services: ServicesDependency, person: Reader, run: str, session: str
) -> Response:
    """What was captured, how it went, and what was said of it."""
    if request.url.query:
        return open_xprof(request, services)
    return session_response(services, person, run, session)


@router.api_route(SESSION_PATH + XPROF_PATH, methods=METHODS)
def open_xprof(request: Request, services: ServicesDependency) -> Response:
    """Leads to a session's XProf."""
    grant = session_grant(request, services)
    mark = "?" if request.url.query else ""
    address = f"{grant.prefix}{XPROF_PATH}/{mark}{request.url.query}"
    return lead_to(address)


@router.get(SESSION_PATH + ENTER)
@router.get(SESSION_PATH + ENTER + "/{rest:path}")
def enter_session(
    request: Request, services: ServicesDependency, run: str, session: str, rest: str = ""
) -> Response:
    """Where people arrive on the content host."""
    return enter(request, services, run, session, rest)


@router.api_route(SESSION_PATH + "/hosts", methods=METHODS)
async def show_hosts(
    request: Request,
    services: ServicesDependency,
    person: Reader,
    run: str,
    session: str,
    looks: _Looks = 0,
) -> Response:
    """The session's files and tools: a part of its page, or a page for those who have no scripts."""
    record = await run_in_threadpool(require_session, services, run, session)
    page = await run_in_threadpool(session_page, services, record, person.principal)
    hosts = await look_at_hosts(services, record, page.addresses)
    template = "session_hosts.html" if _is_part(request) else "session_files.html"
    return page_response(
        services, person, template, page=page, hosts=hosts, looks=looks, look_seconds=_LOOK_SECONDS
    )


@router.api_route(SESSION_PATH + "/figures", methods=METHODS)
def show_figures(
    request: Request,
    services: ServicesDependency,
    person: Reader,
    run: str,
    session: str,
    looks: _Looks = 0,
) -> Response:
    """The session's first figures: a part of its page."""
    if not _is_part(request):
        return session_response(services, person, run, session)
    record = require_session(services, run, session)
    services.figures.ask(record, Wish.MADE)
    page = session_page(services, record, person.principal)
    return page_response(
        services,
        person,
        "session_figures.html",
        page=page,
        looks=looks,
        look_seconds=_LOOK_SECONDS,
        first_hosts=FIRST_HOSTS,
    )


def session_response(
    services: Services,
    person: Person,
    run: str,
    session: str,
    *,
    problem: str = "",
    status: int = 200,
) -> Response:
    """The page; asks the database.

    Args:
        services: where to look.
        person: who reads.
        run: id of the run.
        session: id of the session.
        problem: why what was asked for could not be done, in words.
        status: of the answer.

    Raises:
        NothingThereError: there is no such session.
    """
    record = require_session(services, run, session)
    services.figures.ask(record, Wish.MADE)
    page = session_page(services, record, person.principal)
    nothing_yet: HostsPart | None = None
    return page_response(
        services,
        person,
        "session.html",
        status,
        page=page,
        hosts=nothing_yet,
        comments=comments_of_session(services, person.principal, record),
        problem=problem,
        looks=MOST_LOOKS,
        look_seconds=_LOOK_SECONDS,
        first_hosts=FIRST_HOSTS,
        grace_days=f"{services.settings.delete_grace_days:g}",
    )


def _is_part(request: Request) -> bool:
    """Whether htmx asks, which puts the answer into a page that is there."""
    return request.headers.get("hx-request") == "true"
