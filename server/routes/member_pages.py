"""`/admin/members`: who has which role, and who has signed in; forms that change both."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request, Response
from starlette.concurrency import run_in_threadpool

from auth.identity import Role
from auth.members import read_member
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.signed_in import Person
from server.http.aip import PageToken, next_page_token, page_request
from server.http.errors import ApiError
from server.http.redirects import lead_to
from server.registry import members
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.errors import RegistryError
from server.routes.members import add, change, remove
from server.services import Services, ServicesDependency
from server.site.forms import read_form
from server.site.members_page import ROLES, MemberForm, admin_rows, member_rows, signed_in_rows
from server.site.routes import page_response, page_router, person_who

router = page_router()

MEMBERS_PATH = "/admin/members"
SIGN_OUTS_PATH = "/admin/sign-outs"
_PAGE_SIZE = 100
_MOST_SIGNED_IN = 200
_CONTEXT = ("members page",)
_PEOPLES_ROLES = frozenset(value for value, _ in ROLES)

Manager = Annotated[Person, Depends(person_who(Action.MEMBERS_MANAGE))]


@router.get(MEMBERS_PATH)
def show_members(
    services: ServicesDependency, person: Manager, page_token: PageToken = ""
) -> Response:
    """Members, and who has signed in."""
    return _page(services, person, MemberForm(), page_token)


@router.post(MEMBERS_PATH)
async def add_member(request: Request, services: ServicesDependency, person: Manager) -> Response:
    """Gives somebody a role."""
    fields = await read_form(request)
    form = MemberForm(member=fields.get("member", ""), role=fields.get("role", ""))

    def do() -> None:
        add(request, services, person.principal, read_member(form.member), _role(form.role))

    return await run_in_threadpool(_done, services, person, form, do)


@router.post(f"{MEMBERS_PATH}/{{member}}")
async def change_member(
    request: Request, services: ServicesDependency, person: Manager, member: str
) -> Response:
    """Gives a member another role."""
    fields = await read_form(request)

    def do() -> None:
        change(request, services, member, _role(fields.get("role", "")), None)

    return await run_in_threadpool(_done, services, person, MemberForm(changed=member), do)


@router.post(f"{MEMBERS_PATH}/{{member}}/remove")
def remove_member(
    request: Request, services: ServicesDependency, person: Manager, member: str
) -> Response:
    """Takes a member its role."""

    def do() -> None:
        remove(request, services, member, None)

    return _done(services, person, MemberForm(changed=member), do)


@router.post(SIGN_OUTS_PATH)
async def sign_somebody_out(
    request: Request, services: ServicesDependency, person: Manager
) -> Response:
    """Ends all browser sessions of somebody; who still has a role may sign in again."""
    subject = (await read_form(request)).get("subject", "")

    def do() -> None:
        ended = SqlBrowserSessions(services.database).end_all_of(subject, datetime.now(UTC))
        note_audited(request, "members", verb="sign_out", signedOut=subject, browsers=ended)

    return await run_in_threadpool(_done, services, person, MemberForm(), do)


def _done(services: Services, person: Person, form: MemberForm, do: Callable[[], None]) -> Response:
    """Does what a form asks, and leads back; or shows the page with why it was refused."""
    try:
        do()
    except (ApiError, RegistryError) as problem:
        message = problem.message
    except ValueError as problem:
        message = str(problem)
    else:
        place = f"{services.settings.path_prefix}{MEMBERS_PATH}"
        return lead_to(place, 303)
    refused = MemberForm(message, form.member, form.role, form.changed)
    return _page(services, person, refused, "", 400)


def _page(
    services: Services, person: Person, form: MemberForm, token: str, status: int = 200
) -> Response:
    wanted = page_request(size=_PAGE_SIZE, token=token, order_by="", sortable={}, context=_CONTEXT)
    page = members.list_members(services.database, wanted)
    following = next_page_token(page.next, wanted, _CONTEXT)
    path = f"{services.settings.path_prefix}{MEMBERS_PATH}"
    signed_in = SqlBrowserSessions(services.database).signed_in_people(
        datetime.now(UTC), _MOST_SIGNED_IN
    )
    return page_response(
        services,
        person,
        "members.html",
        status,
        admins=admin_rows(services.sign_ins.admins),
        rows=member_rows(page.records),
        signed_in=signed_in_rows(signed_in),
        roles=ROLES,
        form=form,
        path=path,
        sign_outs_path=f"{services.settings.path_prefix}{SIGN_OUTS_PATH}",
        first=path if token else "",
        more=f"{path}?{urlencode({'pageToken': following})}" if following else "",
        auth=services.settings.auth,
    )


def _role(text: str) -> Role:
    """A role of people.

    Raises:
        ValueError: it is none.
    """
    if text not in _PEOPLES_ROLES:
        raise ValueError("Choose a role: viewer, editor or admin.")
    return Role(text)
