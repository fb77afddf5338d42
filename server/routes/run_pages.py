"""Pages for people who have signed in: runs, a run's sessions, and the way to a session's XProf.

XProf itself is `server.routes.xprof`, at a place of its own for them. `dashboardUri` leads to `open_session`.
"""

from __future__ import annotations

import shlex
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from auth.policy import Action
from server.aip import next_page_token, page_request
from server.grants import session_grant
from server.names import is_id, run_name
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.pages import PageRequest
from server.registry.records import ProfilerSession, Run, SessionKind, SessionState
from server.registry.runs import get_run, list_runs
from server.registry.sessions import list_sessions
from server.routes.sign_in import RUNS_PATH, SIGN_OUT_PATH
from server.routes.xprof import METHODS, XPROF_PATH
from server.services import Services, ServicesDependency
from server.session_passes import ENTER, enter, run_prefix, session_prefix
from server.signed_in import NothingThereError, Person, require_person
from server.ui.run_pages import Entry, Listing, in_words, render_listing
from server.xprof_pages import html_response

router = APIRouter(include_in_schema=False)

SESSION_PATH = RUNS_PATH + "/{run}/sessions/{session}"
_KINDS = {
    SessionKind.ATTACHED: "attached",
    SessionKind.PROGRAMMATIC: "captured by the job",
    SessionKind.ON_DEMAND: "captured on demand",
    SessionKind.SCANNED: "found where the job writes",
    SessionKind.UPLOADED: "uploaded",
}
_Token = Annotated[str, Query(alias="pageToken", max_length=4000)]


def _reader(request: Request, services: ServicesDependency) -> Person:
    """Somebody who may read what the path names."""
    run = request.path_params.get("run")
    resource = run_name(run) if run else "machineLearningRuns"
    action = Action.SESSIONS_READ if run else Action.RUNS_READ
    return require_person(request, services, action, resource)


Reader = Annotated[Person, Depends(_reader)]


@router.api_route(RUNS_PATH, methods=METHODS)
@router.api_route(RUNS_PATH + "/", methods=METHODS)
def show_runs(services: ServicesDependency, person: Reader, page_token: _Token = "") -> Response:
    """The runs, newest first."""
    context = ("pages of runs",)
    wanted = _wanted(page_token, context)
    page = list_runs(services.database, wanted)
    path = f"{services.settings.path_prefix}{RUNS_PATH}"
    return _listing(
        services,
        person,
        Listing(
            title="Runs",
            entries=tuple(_run_entry(services, run) for run in page.records),
            nothing="There is no run yet. A job makes its own, or you do, for example with:",
            command="xprof-hub runs create my-run",
            more=_more(path, next_page_token(page.next, wanted, context)),
        ),
    )


@router.api_route(RUNS_PATH + "/{run}", methods=METHODS)
@router.api_route(RUNS_PATH + "/{run}/", methods=METHODS)
@router.api_route(RUNS_PATH + "/{run}/sessions", methods=METHODS)
@router.api_route(RUNS_PATH + "/{run}/sessions/", methods=METHODS)
def show_run(
    run: str, services: ServicesDependency, person: Reader, page_token: _Token = ""
) -> Response:
    """A run and its sessions, newest first."""
    found = _find_run(services, run)
    context = ("pages of sessions", found.uid)
    wanted = _wanted(page_token, context)
    page = list_sessions(services.database, run, wanted)
    title = found.display_name or found.id
    shown_id = "" if title == found.id else found.id
    listing = Listing(
        title=title,
        facts=in_words((shown_id, found.state.value.lower(), found.run_set, found.creator)),
        warnings=found.warnings,
        entries=tuple(_session_entry(services, session) for session in page.records),
        nothing="This run has no session yet. One appears as soon as it is attached, for example with:",
        command=f"xprof-hub sessions attach {shlex.quote(run)} gs://bucket/path/to/the/profile",
        more=_more(run_prefix(services, run), next_page_token(page.next, wanted, context)),
        up=f"{services.settings.path_prefix}{RUNS_PATH}",
    )
    return _listing(services, person, listing)


@router.api_route(SESSION_PATH, methods=METHODS)
@router.api_route(SESSION_PATH + "/", methods=METHODS)
@router.api_route(SESSION_PATH + XPROF_PATH, methods=METHODS)
def open_session(request: Request, services: ServicesDependency) -> Response:
    """Leads to a session's XProf."""
    grant = session_grant(request, services)
    mark = "?" if request.url.query else ""
    address = f"{grant.prefix}{XPROF_PATH}/{mark}{request.url.query}"
    return RedirectResponse(address, 302, {"Cache-Control": "no-store"})


@router.get(SESSION_PATH + ENTER)
@router.get(SESSION_PATH + ENTER + "/{rest:path}")
def enter_session(
    request: Request, services: ServicesDependency, run: str, session: str, rest: str = ""
) -> Response:
    """Where people arrive on the content host."""
    return enter(request, services, run, session, rest)


def _find_run(services: Services, run: str) -> Run:
    """The run of this id.

    Raises:
        NothingThereError: there is none.
    """
    if not is_id(run):
        raise NothingThereError
    try:
        return get_run(services.database, run)
    except RegistryError as error:
        if error.problem is not RegistryProblem.NOT_FOUND:
            raise
        raise NothingThereError from error


def _wanted(page_token: str, context: tuple[str, ...]) -> PageRequest:
    return page_request(size=0, token=page_token, order_by="", sortable={}, context=context)


def _more(path: str, token: str) -> str:
    return f"{path}?{urlencode({'pageToken': token})}" if token else ""


def _run_entry(services: Services, run: Run) -> Entry:
    facts = in_words((run.state.value.lower(), run.run_set, run.creator))
    return Entry(run_prefix(services, run.id), run.display_name or run.id, facts, run.created)


def _session_entry(services: Services, session: ProfilerSession) -> Entry:
    awaited = "files still to come" if session.state is SessionState.OPEN else ""
    href = session_prefix(services, session.run, session.id)
    facts = in_words((_KINDS[session.kind], awaited))
    return Entry(href, session.display_name or session.id, facts, session.created)


def _listing(services: Services, person: Person, listing: Listing) -> Response:
    signed_in = person.has_signed_in
    text = render_listing(
        listing,
        person=person.principal.name,
        sign_out=f"{services.settings.path_prefix}{SIGN_OUT_PATH}" if signed_in else "",
    )
    return html_response(services.policies, text, "form")
