"""Pages about runs for people who have signed in: the list, and a run with its sessions.

They read the registry only, and so never wait for storage or a worker. What changes a run is
`server.routes.run_page_changes`; pages about a session are `server.routes.session_pages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from auth.policy import Action
from server.callers.signed_in import Person
from server.comparing.addresses import Addresses
from server.comparing.sides import SessionRef
from server.http.aip import PageToken
from server.http.redirects import lead_to
from server.names import is_id
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.run_lists import RunListPage, run_choices, search_runs
from server.routes.sign_in import RUNS_PATH
from server.routes.xprof import METHODS
from server.run_pages.addresses import ReadChoice, read_choice
from server.run_pages.reading import find_run, read_run_view
from server.run_pages.run_list import view_of
from server.services import Services, ServicesDependency
from server.site.routes import page_response, page_router, person_who

router = page_router()

RUN_PATH = RUNS_PATH + "/{run}"
_Lister = Annotated[Person, Depends(person_who(Action.RUNS_READ))]
_Reader = Annotated[Person, Depends(person_who(Action.SESSIONS_READ))]
_Sessions = Annotated[Sequence[str], Query()]


@router.api_route(RUNS_PATH, methods=METHODS)
@router.api_route(RUNS_PATH + "/", methods=METHODS)
def show_runs(request: Request, services: ServicesDependency, person: _Lister) -> Response:
    """The runs that the query asks for."""
    read = read_choice(request.query_params)
    page, problems = _found(services, read)
    path = f"{services.settings.path_prefix}{RUNS_PATH}"
    read = ReadChoice(read.choice, read.query, problems)
    view = view_of(read, page, run_choices(services.database), path)
    response = page_response(services, person, "runs.html", view=view)
    if "hx-request" in request.headers:
        # The form sends its empty fields, too; the browser shows the short address.
        response.headers["HX-Push-Url"] = view.address
    return response


@router.api_route(RUN_PATH, methods=METHODS)
@router.api_route(RUN_PATH + "/", methods=METHODS)
@router.api_route(RUN_PATH + "/sessions", methods=METHODS)
@router.api_route(RUN_PATH + "/sessions/", methods=METHODS)
def show_run(
    services: ServicesDependency, person: _Reader, run: str, page_token: PageToken = ""
) -> Response:
    """A run and its sessions, newest first."""
    view = read_run_view(services, person.principal, run, page_token)
    return page_response(services, person, "run.html", view=view)


@router.api_route(RUN_PATH + "/compare", methods=METHODS)
def compare_sessions(
    services: ServicesDependency, person: _Reader, run: str, session: _Sessions = ()
) -> Response:
    """Leads to the comparison of the two sessions that were ticked."""
    find_run(services, run)
    known = [SessionRef(run, one) for one in session if is_id(one)]
    if len(known) != len(session) or len(known) != 2:
        view = read_run_view(services, person.principal, run)
        problem = "Tick two sessions to compare, no more and no fewer."
        return page_response(services, person, "run.html", 400, view=view, problem=problem)
    # Listed newest first; the older one is what the newer one is compared with.
    newer, older = known
    address = Addresses(services.settings.path_prefix).compare(older, newer)
    return lead_to(address)


def _found(services: Services, read: ReadChoice) -> tuple[RunListPage, dict[str, str]]:
    """The runs, and what is wrong with the query, by its fields."""
    problems = dict(read.problems)
    if "filter" in problems:
        return RunListPage((), 0), problems
    try:
        return search_runs(services.database, read.query), problems
    except RegistryError as error:
        if error.problem is not RegistryProblem.TOO_COSTLY:
            raise
        return RunListPage((), 0), {**problems, "filter": error.message}
