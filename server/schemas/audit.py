"""Events of the audit log as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

from server.schemas import ApiModel, ListParameters

FilterText = Annotated[str, StringConstraints(max_length=4000)]


class AuditEvent(ApiModel):
    """Something that was done. Never changed; removed when it is old."""

    name: str
    create_time: AwareDatetime
    """When it had been done."""
    actor: str
    """`user:…`, `token:…`, `viewer:…` for somebody unknown with a link, or `hub:…` for the hub itself."""
    actor_name: str
    action: str
    """The permission that it needed, such as `links.create`; `links.open`, `people.sign_in` and
    `people.sign_out` need none."""
    verb: str
    """What was done of what the permission allows, such as `create`, `update` or `delete`."""
    resource: str
    """Resource name of what it was done to."""
    address: str
    """Network address that asked; of unknown viewers the network only."""
    details: dict[str, JsonValue] = Field(default_factory=dict)


class AuditEventList(ApiModel):
    """A page of events."""

    audit_events: list[AuditEvent] = Field(default_factory=list)
    next_page_token: str = ""


class ExportParameters(ApiModel):
    """Which events are exported."""

    filter: FilterText = ""


class AuditListParameters(ListParameters):
    """Which page of which events."""

    filter: FilterText = ""
    order_by: Annotated[str, StringConstraints(max_length=100)] = ""
    """`createTime`, and ` desc`; newest first unless set."""
