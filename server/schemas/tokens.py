"""API tokens as JSON, and lifetimes, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from auth.identity import Role
from server.schemas.base import ApiModel, Line, State


class Lifetime(ApiModel):
    """When something ends: at most one of the three."""

    expire_time: AwareDatetime | None = None
    ttl: str | None = None
    """A number and s, m, h, d or w, as in `7d`."""
    never: bool = False


class NewToken(Lifetime):
    """What its maker says about an API token; without a lifetime it works until it is revoked."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"displayName": "nightly job", "role": "editor", "ttl": "52w"}
        }
    )

    display_name: Annotated[Line, StringConstraints(min_length=1)]
    role: Role = Role.EDITOR


class ApiToken(ApiModel):
    """An API token, without its secret."""

    name: str
    uid: str
    etag: str = ""
    display_name: str
    role: Role
    state: State
    create_time: AwareDatetime
    expire_time: AwareDatetime | None
    revoke_time: AwareDatetime | None
    creator: str


class CreatedToken(ApiToken):
    """A new API token: the only time that its secret is told."""

    token: str


class ApiTokenList(ApiModel):
    """A page of API tokens."""

    api_tokens: list[ApiToken] = Field(default_factory=list)
    next_page_token: str = ""
