"""`/groups`: run groups with what they store, and a form for how long their sessions are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.policy import Action, may
from server.audit.notes import note_audited
from server.callers.signed_in import Person
from server.http.errors import ApiError
from server.http.redirects import lead_to
from server.lifecycle.group_page import GroupForm, group_rows, read_group_form, run_rows
from server.lifecycle.showing import require_may_hold
from server.names import group_name
from server.registry import groups
from server.registry.errors import RegistryError
from server.routes.run_groups import checked_group
from server.services import Services, ServicesDependency
from server.site.forms import read_form
from server.site.routes import page_response, page_router, person_who

router = page_router()

GROUPS_PATH = "/groups"
_MOST_GROUPS = 500
_MOST_RUNS = 20
_Reader = Annotated[Person, Depends(person_who(Action.GROUPS_READ))]
_Writer = Annotated[Person, Depends(person_who(Action.GROUPS_WRITE))]


@router.get(GROUPS_PATH)
def show_groups(services: ServicesDependency, person: _Reader) -> Response:
    """All groups, the largest first, and the largest runs."""
    return _page(services, person, None)


@router.post(GROUPS_PATH)
async def change_group(request: Request, services: ServicesDependency, person: _Writer) -> Response:
    """Takes the form of one group."""
    form = read_group_form(await read_form(request))
    form = await run_in_threadpool(_change, services, person, form)
    if form.problem:
        return await run_in_threadpool(_page, services, person, form)
    note_audited(request, group_name(form.group), sessionDays=form.session_days, held=form.is_held)
    address = f"{services.settings.path_prefix}{GROUPS_PATH}"
    return lead_to(address, 303)


def _change(services: Services, person: Person, form: GroupForm) -> GroupForm:
    """Changes the group; the form with why it could not, if it could not."""
    if form.problem:
        return form
    may_hold = may(person.principal, Action.HOLDS_MANAGE, group_name(form.group))

    def decide(old: groups.RunGroup) -> groups.GroupChanges:
        # Whoever may not hold has no box to tick, and changes nothing about it.
        held = form.is_held if may_hold else None
        require_may_hold(person.principal, group_name(form.group), old.is_held, held)
        return groups.GroupChanges(
            session_days=form.session_days,
            is_held=held,
            note=form.note,
            clears_days=form.session_days is None,
        )

    try:
        group = checked_group(form.group)
        now, by = datetime.now(UTC), person.principal.name
        groups.change_group(services.database, group, decide, etag=None, by=by, now=now)
    except (ApiError, RegistryError) as error:
        return replace(form, problem=error.message)
    return form


def _page(services: Services, person: Person, form: GroupForm | None) -> Response:
    found = groups.largest_groups(services.database, _MOST_GROUPS)
    return page_response(
        services,
        person,
        "groups.html",
        200 if form is None else 400,
        rows=group_rows(found),
        runs=run_rows(groups.largest_runs(services.database, _MOST_RUNS)),
        most=_MOST_GROUPS if len(found) == _MOST_GROUPS else 0,
        path=f"{services.settings.path_prefix}{GROUPS_PATH}",
        form=form,
        may_write=may(person.principal, Action.GROUPS_WRITE, "runGroups"),
        may_hold=may(person.principal, Action.HOLDS_MANAGE, "runGroups"),
    )
