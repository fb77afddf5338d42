"""`/v1/members`: who has which role."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request, Response

from auth import members as people
from auth.identity import Principal, Role
from auth.policy import Action
from server.audit.notes import note_audited
from server.callers.access import api_router, require
from server.http.aip import expected_etag, next_page_token, page_request
from server.http.errors import invalid_field
from server.http.masks import read_mask
from server.names import member_name
from server.registry import members
from server.routes.runs import DeleteParameters, IfMatch, UpdateParameters
from server.schemas import EmptyAnswer, ListParameters, ResourceId
from server.schemas.members import Member, MemberList, NewMember
from server.services import Services, ServicesDependency

router = api_router("/v1/members", "members")

Manager = Annotated[Principal, Depends(require(Action.MEMBERS_MANAGE))]
_CONTEXT = ("members",)
_FIELDS = frozenset({"role"})


@router.post("")
def create_member(
    request: Request, services: ServicesDependency, principal: Manager, body: NewMember
) -> Member:
    """Gives a person, group or domain a role. 409 when it has one."""
    added = add(request, services, principal, body.member, body.role)
    return member_resource(added)


@router.get("")
def list_members(
    services: ServicesDependency,
    _principal: Manager,
    parameters: Annotated[ListParameters, Query()],
) -> MemberList:
    """Lists members, the newest first; not those that are admins by setting."""
    wanted = page_request(
        size=parameters.page_size,
        token=parameters.page_token,
        order_by="",
        sortable={},
        context=_CONTEXT,
    )
    page = members.list_members(services.database, wanted)
    return MemberList(
        members=[member_resource(member) for member in page.records],
        next_page_token=next_page_token(page.next, wanted, _CONTEXT),
    )


@router.get("/{member}")
def get_member(
    services: ServicesDependency, _principal: Manager, member: ResourceId, response: Response
) -> Member:
    """Answers one member by its id, with its etag also as a header."""
    shown = member_resource(members.get_member(services.database, member))
    response.headers["ETag"] = f'"{shown.etag}"'
    return shown


@router.patch("/{member}")
def update_member(
    request: Request,
    services: ServicesDependency,
    _principal: Manager,
    member: ResourceId,
    parameters: Annotated[UpdateParameters, Query()],
    body: Member,
    if_match: IfMatch = None,
) -> Member:
    """Gives a member another role. 400 for the last admin, unless a setting names one."""
    mask = read_mask(
        parameters.update_mask, fields=_FIELDS, documents=(), sent=body.model_fields_set
    )
    if not mask.covers("role"):
        return member_resource(members.get_member(services.database, member))
    if body.role is None:
        raise invalid_field("role", "A member has a role; delete the member to take it away.")
    etag = expected_etag(body.etag, if_match)
    return member_resource(change(request, services, member, body.role, etag))


@router.delete("/{member}")
def delete_member(
    request: Request,
    services: ServicesDependency,
    _principal: Manager,
    member: ResourceId,
    parameters: Annotated[DeleteParameters, Query()],
    if_match: IfMatch = None,
) -> EmptyAnswer:
    """Takes a member its role, at once. 400 for the last admin, unless a setting names one."""
    remove(request, services, member, expected_etag(parameters.etag, if_match))
    return EmptyAnswer()


def add(
    request: Request, services: Services, principal: Principal, member: str, role: Role
) -> people.Member:
    """Gives a member a role, and notes it for the audit log.

    Raises:
        RegistryError: as `server.registry.members.add_member`.
    """
    now = datetime.now(UTC)
    added = members.add_member(services.database, member, role, principal.name, now)
    told = {"member": added.member, "role": added.role.value}
    note_audited(request, member_name(added.id), verb="create", **told)
    return added


def change(
    request: Request, services: Services, member: str, role: Role, etag: str | None
) -> people.Member:
    """Gives a member another role, and notes it for the audit log.

    Raises:
        RegistryError: as `server.registry.members.change_role`.
    """
    changed = members.change_role(
        services.database,
        member,
        role,
        etag=etag,
        now=datetime.now(UTC),
        is_admin_set=bool(services.sign_ins.admins),
    )
    note_audited(request, member_name(changed.id), member=changed.member, role=changed.role.value)
    return changed


def remove(request: Request, services: Services, member: str, etag: str | None) -> people.Member:
    """Takes a member its role, and notes it for the audit log.

    Raises:
        RegistryError: as `server.registry.members.remove_member`.
    """
    is_admin_set = bool(services.sign_ins.admins)
    gone = members.remove_member(services.database, member, etag=etag, is_admin_set=is_admin_set)
    told = {"member": gone.member, "role": gone.role.value}
    note_audited(request, member_name(gone.id), verb="delete", **told)
    return gone


def member_resource(member: people.Member) -> Member:
    """A member as the API shows it."""
    return Member(
        name=member_name(member.id),
        uid=member.id,
        etag=members.member_etag(member),
        creator=member.creator,
        create_time=member.created,
        update_time=member.updated,
        member=member.member,
        role=member.role,
    )
