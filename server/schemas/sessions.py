"""Sessions as JSON, shared by the routes and the client; their health is in `server.sessions.schemas`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, ConfigDict, Field, StringConstraints

from server.registry.records import SessionKind, SessionState
from server.schemas.base import (
    ApiModel,
    Deletable,
    JsonObject,
    Line,
    SortedListParameters,
)


class SessionHost(ApiModel):
    """The profile of one host."""

    host: str
    file: str
    size_bytes: int


class Session(Deletable):
    """A profiler session: one start and stop of the profiler on many hosts."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "storageFolderUri": "gs://my-bucket/runs/llama-8b/plugins/profile/2026_01_31_12_00_00",
                "displayName": "step 1000",
                "expectedHosts": 4,
                "kind": "PROGRAMMATIC",
                "startTime": "2026-01-31T12:00:00Z",
                "targets": {"host-0": {"sessionPhase": "ACTIVE"}},
            }
        }
    )

    display_name: Line = ""
    storage_folder_uri: Line = ""
    """Where the profile is; needed when it is attached, and never changed."""
    expected_hosts: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    kind: SessionKind | None = None
    """How it came here. Chosen when it is attached (`ATTACHED`, `PROGRAMMATIC` or `ON_DEMAND`); `SCANNED` and
    `UPLOADED` are the hub's."""
    state: SessionState | None = None
    """`OPEN` while hosts may still come, else `COMPLETE`."""
    start_time: AwareDatetime | None = None
    """When the capture began."""
    end_time: AwareDatetime | None = None
    """When it ended."""
    targets: dict[Line, JsonObject] = Field(default_factory=dict)
    """What the job says of each host, by the host's name. A change is merged into what is there."""
    details: JsonObject = Field(default_factory=dict)
    """What else it says: duration, tracer levels."""
    attempt: Annotated[int, Field(ge=1)] | None = None
    """Number of the run's attempt that it belongs to; chosen when it is attached, else the running one."""
    expire_time: AwareDatetime | None = None
    """When it is to be deleted; what its run group says holds where this is not set."""
    ttl: Annotated[str, StringConstraints(max_length=40)] | None = None
    """The same as a time from now, such as `30d`; never answered."""
    pinned: bool | None = None
    """Whether it is kept in spite of that."""
    due_time: AwareDatetime | None = None
    """Server-set: when it will be deleted, all taken together; missing when it will not."""
    kept_because: list[str] | None = None
    """Server-set: what keeps it: `HELD`, `RUN_HELD`, `GROUP_HELD` or `PINNED`, the strongest first."""
    dashboard_uri: str = ""
    """Server-set: opens it in XProf, for people who are signed in."""
    merged_from: list[str] | None = None
    """Server-set: resource names of the sessions that this one was made of; each may be gone by now."""
    storage_folder_uris: list[str] | None = None
    """Server-set: all folders of a merged session."""
    prewarm: str | None = None
    """Server-set: how far converting in advance is: `waiting`, `running`, `done`, `cancelled`, `failed`, or
    `skipped` when this hub does not do so, the session is too large, hosts of it are missing, or too many
    sessions are waiting."""
    hosts: list[SessionHost] | None = None
    """Server-set: the hosts that are there at this moment; not part of lists."""
    found_hosts: int | None = None
    """Server-set: how many there are; not part of lists."""
    problem: str | None = None
    """Server-set: why the session can't be shown, or not wholly, in words."""
    problem_reason: str | None = None
    """Server-set: the same for programs."""


class SessionList(ApiModel):
    """A page of a run's sessions."""

    profiler_sessions: list[Session] = Field(default_factory=list)
    next_page_token: str = ""


class SessionListParameters(SortedListParameters):
    """Which page of which sessions of a run."""

    filter: Annotated[str, StringConstraints(max_length=2000)] = ""
    """Which sessions, after AIP-160, as in `kind = SCANNED AND createTime > "2026-01-31"`."""
    show_deleted: bool = False
    """Whether those are listed too that were deleted and can come back."""
