"""The forms of a session's page: rename, pin, expiry, hold, delete, bring back, cancel converting in advance.

Each does what the API does, and leads back to the page; what is refused is said there.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.signed_in import NothingThereError, Person
from server.http.redirects import lead_to
from server.lifecycle.restoring import bring_session_back
from server.names import LONGEST_LINE, has_controls, session_name
from server.registry.deleting import delete_session
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.prewarm import UNDER_WAY, PrewarmState, change_prewarm
from server.registry.records import Json, ProfilerSession
from server.registry.session_changes import SessionChanges, change_session
from server.routes.session_pages import SESSION_PATH, session_response
from server.services import Services, ServicesDependency
from server.session_pages.addresses import addresses_of
from server.session_pages.finding import require_session
from server.site.days import HOW_TO_WRITE, read_day
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who

router = page_router()

Editor = Annotated[Person, Depends(person_who(Action.SESSIONS_WRITE))]
Holder = Annotated[Person, Depends(person_who(Action.HOLDS_MANAGE))]
_ANSWERS = {"yes": True, "no": False}
_LAST_MOMENT = timedelta(days=1) - timedelta(microseconds=1)
"""From the beginning of a day to its end: what ends after a day is there all day."""


class _RefusedError(Exception):
    """What was asked for can't be done; the message says why."""


@router.post(SESSION_PATH + "/rename")
async def rename(
    request: Request, services: ServicesDependency, person: Editor, run: str, session: str
) -> Response:
    """Gives it another name for people."""
    name = (await read_form(request)).get("name", "").strip()
    problem = ""
    if has_controls(name) or len(name) > LONGEST_LINE:
        problem = f"A name is one line of at most {LONGEST_LINE} characters."
    changes = SessionChanges(display_name=name or session)
    return await run_in_threadpool(
        _change, request, services, person, run, session, changes, problem
    )


@router.post(SESSION_PATH + "/pin")
async def pin(
    request: Request, services: ServicesDependency, person: Editor, run: str, session: str
) -> Response:
    """Pins it, so that it outlives any expiry, or takes the pin off."""
    answer = _ANSWERS.get((await read_form(request)).get("pinned", ""))
    problem = "Say whether to pin it." if answer is None else ""
    changes = SessionChanges(is_pinned=answer)
    return await run_in_threadpool(
        _change, request, services, person, run, session, changes, problem
    )


@router.post(SESSION_PATH + "/hold")
async def hold(
    request: Request, services: ServicesDependency, person: Holder, run: str, session: str
) -> Response:
    """Keeps anybody from deleting it, or lets it go again."""
    answer = _ANSWERS.get((await read_form(request)).get("held", ""))
    problem = "Say whether to hold it." if answer is None else ""
    changes = SessionChanges(is_held=answer)
    return await run_in_threadpool(
        _change, request, services, person, run, session, changes, problem
    )


@router.post(SESSION_PATH + "/expiry")
async def expire(
    request: Request, services: ServicesDependency, person: Editor, run: str, session: str
) -> Response:
    """Says after which day it is deleted by itself; an empty field takes that back."""
    text = (await read_form(request)).get("expires", "").strip()
    problem, changes = "", SessionChanges(cleared=frozenset({"expires"}))
    if text:
        try:
            changes = SessionChanges(expires=_end_of_day(text))
        except _RefusedError as error:
            problem = str(error)
    return await run_in_threadpool(
        _change, request, services, person, run, session, changes, problem
    )


@router.post(SESSION_PATH + "/cancel-prewarm")
def cancel_prewarm(
    request: Request, services: ServicesDependency, _person: Editor, run: str, session: str
) -> Response:
    """Ends converting it in advance; what is converted by now is kept."""
    record = require_session(services, run, session)
    change_prewarm(services.database, record.uid, PrewarmState.CANCELLED, UNDER_WAY)
    note_audited(request, session_name(run, session), prewarm=PrewarmState.CANCELLED.value)
    return lead_to(addresses_of(services, run, session).page, 303)


@router.post(SESSION_PATH + "/delete")
def delete(
    request: Request, services: ServicesDependency, person: Editor, run: str, session: str
) -> Response:
    """Deletes it, in a way that can be taken back for a time."""
    require_session(services, run, session)
    try:
        delete_session(
            services.database,
            run,
            session,
            etag=None,
            now=datetime.now(UTC),
            by=person.principal.name,
        )
    except RegistryError as error:
        return _refused(services, person, run, session, error)
    note_audited(request, session_name(run, session), deleted=True)
    return lead_to(f"{addresses_of(services, run, session).page}/deleted", 303)


@router.get(SESSION_PATH + "/deleted")
def show_deleted(services: ServicesDependency, person: Editor, run: str, session: str) -> Response:
    """Says that it is deleted, and offers to bring it back."""
    return _deleted_page(services, person, run, session)


@router.post(SESSION_PATH + "/undelete")
def undelete(
    request: Request, services: ServicesDependency, person: Editor, run: str, session: str
) -> Response:
    """Brings it back."""
    try:
        bring_session_back(services.database, run, session, now=datetime.now(UTC))
    except RegistryError as error:
        status = 404 if error.problem is RegistryProblem.NOT_FOUND else 409
        return _deleted_page(services, person, run, session, error.message, status)
    note_audited(request, session_name(run, session), deleted=False)
    return lead_to(addresses_of(services, run, session).page, 303)


def _change(
    request: Request,
    services: Services,
    person: Person,
    run: str,
    session: str,
    changes: SessionChanges,
    problem: str,
) -> Response:
    """Changes the session, unless there is a problem already, and leads back to its page."""
    if problem:
        return session_response(services, person, run, session, problem=problem, status=400)
    require_session(services, run, session)
    changed: ProfilerSession = change_session(
        services.database,
        run,
        session,
        lambda _old: changes,
        etag=None,
        now=datetime.now(UTC),
    )
    note_audited(request, session_name(run, session), changes=_told(changes))
    return lead_to(addresses_of(services, run, changed.id).page, 303)


def _told(changes: SessionChanges) -> dict[str, Json]:
    """What the audit log learns of a change."""
    told: dict[str, Json] = {
        "displayName": changes.display_name,
        "pinned": changes.is_pinned,
        "held": changes.is_held,
        "expireTime": changes.expires.isoformat() if changes.expires else None,
    }
    found = {name: value for name, value in told.items() if value is not None}
    return found | ({"expireTime": None} if "expires" in changes.cleared else {})


def _end_of_day(text: str) -> datetime:
    """The last moment of a day in UTC.

    Raises:
        _RefusedError: it is no day, or one that is over.
    """
    day = read_day(text)
    if day is None:
        raise _RefusedError(f"{HOW_TO_WRITE} Leave it empty for a session without an end.")
    moment = day + _LAST_MOMENT
    if moment <= datetime.now(UTC):
        raise _RefusedError("This day is over already. To delete the session now, use Delete.")
    return moment


def _refused(
    services: Services,
    person: Person,
    run: str,
    session: str,
    error: RegistryError,
) -> Response:
    if error.problem is RegistryProblem.NOT_FOUND:
        raise NothingThereError from error
    return session_response(services, person, run, session, problem=error.message, status=409)


def _deleted_page(
    services: Services, person: Person, run: str, session: str, problem: str = "", status: int = 200
) -> Response:
    return page_response(
        services,
        person,
        "session_deleted.html",
        status,
        at=addresses_of(services, run, session),
        run=run,
        session=session,
        problem=problem,
        grace_days=f"{services.settings.delete_grace_days:g}",
    )
