"""Operations as JSON, shared by the routes and the client."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from server.schemas.base import ApiModel


class Operation(ApiModel):
    """A change that was made through the managed API; kept a day. What is refused leaves no operation."""

    name: str
    """Resource name, not percent-encoded."""
    parent: str
    """Location that it was asked for below, `projects/PROJECT/locations/LOCATION`."""
    verb: str
    """`create`, `update` or `delete`."""
    target: str
    """Resource name of what it is about."""
    done: bool = True
    """Always: changes are made at once."""
    create_time: AwareDatetime


class OperationList(ApiModel):
    """A page of operations."""

    operations: list[Operation] = Field(default_factory=list)
    next_page_token: str = ""
