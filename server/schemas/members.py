"""Members as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from auth.identity import Role
from auth.members import read_member
from server.schemas.base import ApiModel, Line, ServerSet


def _role_of_people(role: Role) -> Role:
    if role is Role.INGEST:
        raise ValueError("Jobs have API tokens; a member is a viewer, editor or admin.")
    return role


MemberText = Annotated[Line, AfterValidator(read_member)]
MemberRole = Annotated[Role, AfterValidator(_role_of_people)]


class NewMember(ApiModel):
    """Who gets which role."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"member": "user:ann@example.org", "role": "viewer"}}
    )

    member: MemberText
    """`user:` and an e-mail address, `group:` and its name, or `domain:` and what follows the @."""
    role: MemberRole


class Member(ServerSet):
    """A person, group or domain with its role."""

    model_config = ConfigDict(json_schema_extra={"example": {"role": "editor"}})

    member: str = ""
    """Never changes."""
    role: MemberRole | None = None


class MemberList(ApiModel):
    """A page of members."""

    members: list[Member] = Field(default_factory=list)
    next_page_token: str = ""
