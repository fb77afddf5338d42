"""The API's resources as JSON, shared by the routes and the client. No route and no query of its own.

Sent in camelCase; snake_case is understood too. A field that doesn't exist is refused by name, because a
silently dropped one is a bug that its author finds weeks later. Fields that only the server sets may be sent
back as they were read and are ignored (AIP-203).
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)
from pydantic.alias_generators import to_camel

from auth.identity import Role
from server.names import check_id, has_controls

MAX_CONFIG_DEPTH = 16
"""How deep objects and lists in a run's `configs` and `artifacts` may be nested."""


def _without_controls(text: str) -> str:
    if has_controls(text):
        raise ValueError("Control characters and line breaks can't be part of this text.")
    return text


def _without_odd_controls(text: str) -> str:
    if has_controls(text.replace("\n", "").replace("\r", "").replace("\t", "")):
        raise ValueError("Control characters can't be part of this text.")
    return text


def _storable(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Refuses what not every database and reader can hold.

    Numbers without a value, bottomless nesting, control characters (PostgreSQL's functions fail on NUL) and
    halves of characters, which have no UTF-8, so that an answer with one can't be sent.
    """
    level: list[JsonValue] = [value]
    for _ in range(MAX_CONFIG_DEPTH):
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, float) and not math.isfinite(item):
                raise ValueError("NaN and infinity are not JSON.")
            if isinstance(item, str):
                _without_odd_controls(item)
            elif isinstance(item, dict):
                below += item.keys()
                below += item.values()
            elif isinstance(item, list):
                below += item
        level = below
        if not level:
            return value
    raise ValueError(f"This is nested more than {MAX_CONFIG_DEPTH} levels deep.")


Line = Annotated[str, StringConstraints(max_length=500), AfterValidator(_without_controls)]
"""A text of one line."""
Prose = Annotated[str, StringConstraints(max_length=4000), AfterValidator(_without_odd_controls)]
"""A text of several lines."""
ResourceId = Annotated[str, AfterValidator(check_id)]
"""Id of a run or session, as in a path."""
LabelKey = Annotated[Line, StringConstraints(min_length=1, pattern=r'^[^"\\]*$')]
"""A label's name; quotes and backslashes can't be searched for on SQLite."""
Labels = Annotated[dict[LabelKey, Line], Field(max_length=64)]
JsonObject = Annotated[dict[str, JsonValue], AfterValidator(_storable)]
State = Literal["ACTIVE", "EXPIRED", "REVOKED"]


class ApiModel(BaseModel):
    """What all resources and parameters have in common."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
    )


class ServerSet(ApiModel):
    """Fields that the server sets; ignored when a client sends them back."""

    name: str = ""
    """Resource name, not percent-encoded."""
    uid: str = ""
    etag: str = ""
    creator: str = ""
    create_time: AwareDatetime | None = None
    update_time: AwareDatetime | None = None


class Run(ServerSet):
    """A machine learning run."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "displayName": "llama 8B, batch 64",
                "labels": {"team": "perf"},
                "runSet": "llama",
                "configs": {"userConfigs": {"batch": "64"}},
                "artifacts": {"gcsPath": "gs://my-bucket/runs/llama-8b"},
            }
        }
    )

    display_name: Line = ""
    labels: Labels = Field(default_factory=dict)
    run_set: Line = ""
    configs: JsonObject = Field(default_factory=dict)
    artifacts: JsonObject = Field(default_factory=dict)


class RunList(ApiModel):
    """A page of runs."""

    machine_learning_runs: list[Run] = []
    next_page_token: str = ""


class SessionHost(ApiModel):
    """The profile of one host."""

    host: str
    file: str
    size_bytes: int


class Session(ServerSet):
    """A profiler session: one start and stop of the profiler on many hosts."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "storageFolderUri": "gs://my-bucket/runs/llama-8b/plugins/profile/2026_01_31_12_00_00",
                "displayName": "step 1000",
                "expectedHosts": 4,
            }
        }
    )

    display_name: Line = ""
    storage_folder_uri: Annotated[Line, StringConstraints(min_length=1)]
    expected_hosts: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
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

    profiler_sessions: list[Session] = []
    next_page_token: str = ""


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

    api_tokens: list[ApiToken] = []
    next_page_token: str = ""


class ListParameters(ApiModel):
    """Which page of a list."""

    page_size: int = 0
    """At most 1000; 0 for 50."""
    page_token: Annotated[str, StringConstraints(max_length=4000)] = ""


class SortedListParameters(ListParameters):
    """Which page of a list that can be sorted."""

    order_by: Annotated[str, StringConstraints(max_length=100)] = ""
    """`createTime`, `updateTime`, `displayName` or `name`, and ` desc`; newest first unless set."""


class RunListParameters(SortedListParameters):
    """Which page of which runs."""

    filter: Annotated[str, StringConstraints(max_length=1000)] = ""
    """Conditions joined by AND, as in `runSet = "llama" AND labels.team = "perf"`."""


class EmptyAnswer(ApiModel):
    """Done; there is nothing to tell."""


class Error(ApiModel):
    """What went wrong (AIP-193)."""

    code: int
    """HTTP status."""
    status: str
    """Canonical name of the error."""
    message: str
    """One sentence for a person."""
    details: list[dict[str, str]] = []
    """Particulars for a program: `field` and `description`, or `reason` and `file`."""


class ErrorResponse(ApiModel):
    """The body of every answer that is not a success."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": {
                    "code": 400,
                    "status": "INVALID_ARGUMENT",
                    "message": "displayNam: There is no such field.",
                    "details": [{"field": "displayNam", "description": "There is no such field."}],
                }
            }
        }
    )

    error: Error
