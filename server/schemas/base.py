"""What all of the API's resources have in common: names of fields, kinds of text, server-set fields.

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

from server.names import LONGEST_LINE, check_id, has_controls

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


Line = Annotated[str, StringConstraints(max_length=LONGEST_LINE), AfterValidator(_without_controls)]
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


class Deletable(ServerSet):
    """A resource that can come back for some days after it was deleted."""

    held: bool | None = None
    """Whether there is a legal hold on it, which lets nobody delete it. Only an admin sets it."""
    delete_time: AwareDatetime | None = None
    """Server-set: when it was deleted; only in lists with `showDeleted`."""
    purge_time: AwareDatetime | None = None
    """Server-set: until when it can be brought back with `:undelete`, likewise."""


class ListParameters(ApiModel):
    """Which page of a list."""

    page_size: int = 0
    """At most 1000; 0 for 50."""
    page_token: Annotated[str, StringConstraints(max_length=4000)] = ""


class SortedListParameters(ListParameters):
    """Which page of a list that can be sorted."""

    order_by: Annotated[str, StringConstraints(max_length=100)] = ""
    """`createTime`, `updateTime`, `displayName` or `name`, and ` desc`; newest first unless set."""


class EmptyAnswer(ApiModel):
    """Done; there is nothing to tell."""
