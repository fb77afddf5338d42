"""Run groups as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field

from server.schemas.base import ApiModel, ListParameters, Prose


class RunGroup(ApiModel):
    """What holds for all runs whose `runSet` is the same, and what they store."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"sessionDays": 90, "note": "kept for a quarter"}}
    )

    name: str = ""
    """Server-set: `runGroups/` and what the runs' `runSet` says, not percent-encoded."""
    etag: str = ""
    session_days: Annotated[int, Field(ge=1, le=36_500)] | None = None
    """Days after which a session is deleted, from its creation; missing: never. What a session says of itself
    goes before."""
    held: bool | None = None
    """Whether there is a legal hold on all that is in it. Only an admin sets it."""
    note: Prose = ""
    update_time: AwareDatetime | None = None
    """Server-set: when it was changed last."""
    updater: str = ""
    """Server-set: who did."""
    run_count: int | None = None
    """Server-set."""
    session_count: int | None = None
    """Server-set."""
    total_bytes: int | None = None
    """Server-set: size of its sessions' profiles, as far as they have been looked at."""


class RunGroupList(ApiModel):
    """A page of run groups."""

    run_groups: list[RunGroup] = Field(default_factory=list)
    next_page_token: str = ""


class RunGroupListParameters(ListParameters):
    """Which page of run groups."""
