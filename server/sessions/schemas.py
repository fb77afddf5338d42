"""What the API says of a session beside the session itself: its health, and what it can be merged with.

The rules are those of `server.schemas`. No route and no query of its own.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, ConfigDict, Field

from server.schemas import ApiModel, Line, ResourceId


class HostContents(ApiModel):
    """What kinds of things one host's profile holds; `true` means that they may be there."""

    tpu_planes: int
    gpu_planes: int
    device_events: int
    """Events of TPUs and GPUs."""
    hlo_modules: int
    memory_events: bool
    """Allocations and releases of memory."""
    host_ops: bool
    """Operations of a framework that ran on the host."""
    hardware_counters: bool
    megascale_events: bool
    """Transfers between TPU slices."""


class ToolNote(ApiModel):
    """A tool of XProf that has nothing to show for a session."""

    tool: str
    """XProf's name of it, e.g. `hlo_stats`."""
    title: str
    """What XProf's menu calls it."""
    reason: str
    """Why, and what helps, in words."""


class HostHealth(ApiModel):
    """What the inspection says of one host's file."""

    host: str
    file: str
    size: int
    """Bytes."""
    usable: bool
    reason: str | None = None
    """Why it can't be shown, for programs."""
    message: str | None = None
    """Why it can't be shown, in words."""
    warnings: tuple[str, ...] = ()
    """What is odd about a file that can be shown."""
    start_ns: int | None = None
    """When the host's capture began, in nanoseconds since 1970, if the profile states it."""
    stop_ns: int | None = None
    """When it ended."""
    hostnames: tuple[str, ...] = ()
    """Hosts of the capture, as the profile states them; nearly always its own only."""
    contents: HostContents | None = None
    """What the profile holds; missing when it can't be shown."""


class SessionHealth(ApiModel):
    """Whether a session's files can be shown."""

    hosts: list[HostHealth]
    found_hosts: int
    usable_hosts: int
    expected_hosts: int | None = None
    """How many hosts took part, as its maker said or its profiles state; missing when nobody said."""
    problem: str | None = None
    """Why the session can't be shown wholly, in words."""
    problem_reason: str | None = None
    """The same for programs."""
    tools: tuple[ToolNote, ...] = ()
    """Tools of XProf that have nothing to show for the hosts that can be shown, and why."""


class MergeOffer(ApiModel):
    """Sessions of a run that are hosts of one capture, and can be shown as one."""

    sessions: list[str]
    """Resource names, the earliest first."""
    hosts: list[str]
    basis: Literal["profile", "folderName"]
    """What says that they belong together: times in the profiles, or in the folders' names."""
    start_time: AwareDatetime | None = None
    """When the first host's capture began, if the profiles state it."""
    end_time: AwareDatetime | None = None
    """When the last host's capture ended."""
    overlap_seconds: float | None = None
    """How long all hosts were captured at the same time; missing when a profile states no times."""


class MergeOfferList(ApiModel):
    """What can be merged in a run."""

    merge_offers: tuple[MergeOffer, ...] = ()


class NewMerge(ApiModel):
    """What a client says about sessions that it merges."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"sessions": ["2026_01_31_12_00_00", "2026_01_31_12_00_02"]},
        }
    )

    sessions: Annotated[list[Line], Field(min_length=2, max_length=1000)]
    """Ids or resource names of sessions of the run."""
    profiler_session_id: ResourceId | None = None
    """Id of the merged session; made from the first one's unless set."""
    display_name: Line = ""
