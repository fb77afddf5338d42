"""What the page of a run changes: its note, its hold, itself; and sessions that belong together.

Each does what the API does, and leads back to the page; what is refused is said there.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool

from auth.policy import Action
from loader.errors import LoaderError
from server.audit.notes import note_audited
from server.callers.session_passes import run_prefix
from server.callers.signed_in import Person
from server.http.errors import ApiError
from server.http.redirects import lead_to
from server.names import run_name, session_name
from server.registry.deleting import delete_run, undelete_run
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.runs import RunChanges, update_run
from server.routes.run_pages import RUN_PATH
from server.routes.session_merges import find_merge_offers, merge_captures
from server.run_pages.reading import find_run, read_run_view
from server.schemas import Prose
from server.services import Services, ServicesDependency
from server.sessions.schemas import NewMerge
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who

router = page_router()

_NOTE: TypeAdapter[str] = TypeAdapter(Prose)
_HOLDS = {"yes": True, "no": False}
_Editor = Annotated[Person, Depends(person_who(Action.RUNS_WRITE))]
_Merger = Annotated[Person, Depends(person_who(Action.SESSIONS_WRITE))]
_Holder = Annotated[Person, Depends(person_who(Action.HOLDS_MANAGE))]


@router.post(RUN_PATH + "/note")
async def change_note(
    request: Request, services: ServicesDependency, person: _Editor, run: str
) -> Response:
    """Takes in what people write about the run."""
    text = (await read_form(request)).get("note", "").replace("\r\n", "\n").strip()
    try:
        note = _NOTE.validate_python(text)
    except ValidationError:
        problem = "A note has at most 4000 characters, and no control characters."
        return await run_in_threadpool(_again, services, person, run, problem, text)
    return await run_in_threadpool(_change, request, services, run, RunChanges(note=note))


@router.post(RUN_PATH + "/hold")
async def change_hold(
    request: Request, services: ServicesDependency, person: _Holder, run: str
) -> Response:
    """Keeps anybody from deleting the run or a session of it, or lets it go again."""
    answer = _HOLDS.get((await read_form(request)).get("held", ""))
    if answer is None:
        return await run_in_threadpool(_again, services, person, run, "Say whether to hold it.")
    return await run_in_threadpool(_change, request, services, run, RunChanges(is_held=answer))


@router.get(RUN_PATH + "/delete")
def ask_before_deletion(services: ServicesDependency, person: _Editor, run: str) -> Response:
    """Says what a deletion means, and asks whether it is meant."""
    return _deletion_page(services, person, run)


@router.post(RUN_PATH + "/delete")
def delete(request: Request, services: ServicesDependency, person: _Editor, run: str) -> Response:
    """Deletes the run with its sessions, in a way that can be taken back for a time."""
    find_run(services, run)
    try:
        delete_run(
            services.database, run, etag=None, now=datetime.now(UTC), by=person.principal.name
        )
    except RegistryError as error:
        return _deletion_page(services, person, run, error.message, 409)
    note_audited(request, run_name(run), verb="delete")
    return lead_to(f"{run_prefix(services, run)}/deleted", 303)


@router.get(RUN_PATH + "/deleted")
def show_deleted(services: ServicesDependency, person: _Editor, run: str) -> Response:
    """Says that the run is deleted, and offers to bring it back."""
    return _deleted_page(services, person, run)


@router.post(RUN_PATH + "/undelete")
def undelete(request: Request, services: ServicesDependency, person: _Editor, run: str) -> Response:
    """Brings the run back, with the sessions that it had."""
    try:
        undelete_run(services.database, run, now=datetime.now(UTC))
    except RegistryError as error:
        status = 404 if error.problem is RegistryProblem.NOT_FOUND else 409
        return _deleted_page(services, person, run, error.message, status)
    note_audited(request, run_name(run), verb="undelete")
    return lead_to(run_prefix(services, run), 303)


@router.get(RUN_PATH + "/mergeable")
async def show_merge_offers(services: ServicesDependency, person: _Merger, run: str) -> Response:
    """Sessions that are hosts of one capture: a part of the page, and a page for those without scripts."""
    await run_in_threadpool(find_run, services, run)
    problem = ""
    try:
        offers = await find_merge_offers(services, run)
    except LoaderError as error:
        offers, problem = [], error.message
    href = run_prefix(services, run)
    return page_response(
        services, person, "merge_offers.html", run=run, href=href, offers=offers, problem=problem
    )


@router.post(RUN_PATH + "/merge")
async def merge(
    request: Request, services: ServicesDependency, person: _Merger, run: str
) -> Response:
    """Shows sessions as one that are hosts of one capture."""
    await run_in_threadpool(find_run, services, run)
    named = (await read_form(request)).get("sessions", "").split("/")
    try:
        body = NewMerge(sessions=named)
        made, _ = await merge_captures(services, person.principal, run, body, None)
    except ValidationError:
        problem = "Name the sessions that belong together."
    except (ApiError, LoaderError, RegistryError) as error:
        problem = error.message
    else:
        note_audited(request, session_name(run, made.id), verb="merge", sessions=[*named])
        return lead_to(f"{run_prefix(services, run)}", 303)
    return await run_in_threadpool(_again, services, person, run, problem)


def _change(request: Request, services: Services, run: str, changes: RunChanges) -> Response:
    find_run(services, run)
    update_run(services.database, run, changes, etag=None, now=datetime.now(UTC))
    note_audited(request, run_name(run), verb="update")
    return lead_to(run_prefix(services, run), 303)


def _again(
    services: Services, person: Person, run: str, problem: str, note: str | None = None
) -> Response:
    """The page with what was refused, and what was typed."""
    view = read_run_view(services, person.principal, run)
    return page_response(services, person, "run.html", 400, view=view, problem=problem, typed=note)


def _deletion_page(
    services: Services, person: Person, run: str, problem: str = "", status: int = 200
) -> Response:
    return page_response(
        services,
        person,
        "run_delete.html",
        status,
        view=read_run_view(services, person.principal, run),
        days=services.settings.delete_grace_days,
        problem=problem,
    )


def _deleted_page(
    services: Services, person: Person, run: str, problem: str = "", status: int = 200
) -> Response:
    return page_response(
        services,
        person,
        "run_deleted.html",
        status,
        run=run,
        href=run_prefix(services, run),
        days=services.settings.delete_grace_days,
        problem=problem,
    )
