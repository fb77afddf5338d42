"""Filters of lists, the useful part of AIP-160 (`docs/adr/026-resources.md`): from text to a condition.

`scanner` reads characters, `tree` the grammar, `meaning` the fields; `server.registry.conditions` turns the
result into SQL. No query here.
"""

from __future__ import annotations

from types import MappingProxyType

from server.filters.errors import FilterError
from server.filters.meaning import Field, Fields, Kind, condition_of
from server.filters.tree import parse
from server.http.error_table import INVALID
from server.http.errors import ApiError
from server.registry.conditions import Condition
from server.registry.records import RunState, SessionKind, SessionState

__all__ = ["AUDIT_FIELDS", "RUN_FIELDS", "SESSION_FIELDS", "Field", "Fields", "Kind", "read_filter"]

_COMMON: Fields = MappingProxyType(
    {
        "name": Field(Kind.ID, "id"),
        "displayName": Field(Kind.TEXT, "display_name"),
        "creator": Field(Kind.TEXT, "creator"),
        "createTime": Field(Kind.MOMENT, "created"),
        "updateTime": Field(Kind.MOMENT, "updated"),
        "endTime": Field(Kind.MOMENT, "ended"),
    }
)
RUN_FIELDS: Fields = MappingProxyType(
    {
        **_COMMON,
        "runSet": Field(Kind.TEXT, "run_set"),
        "storageRoot": Field(Kind.TEXT, "storage_root"),
        "state": Field(Kind.CHOICE, "state", tuple(RunState)),
        "lastSeenTime": Field(Kind.MOMENT, "seen"),
        "labels": Field(Kind.JSON, "labels"),
        "configs": Field(Kind.JSON, "configs"),
        "artifacts": Field(Kind.JSON, "artifacts"),
        "workload": Field(Kind.JSON, "workload"),
        "orchestrator": Field(Kind.TEXT, "workload", path=("orchestrator",)),
    }
)
"""What a filter of runs may name."""
SESSION_FIELDS: Fields = MappingProxyType(
    {
        **_COMMON,
        "kind": Field(Kind.CHOICE, "kind", tuple(SessionKind)),
        "state": Field(Kind.CHOICE, "state", tuple(SessionState)),
        "startTime": Field(Kind.MOMENT, "started"),
        "attempt": Field(Kind.NUMBER, "attempt"),
        "expectedHosts": Field(Kind.NUMBER, "expected_hosts"),
        "targets": Field(Kind.JSON, "targets"),
        "details": Field(Kind.JSON, "details"),
    }
)
"""What a filter of sessions may name."""


AUDIT_FIELDS: Fields = MappingProxyType(
    {
        "name": Field(Kind.ID, "id"),
        "createTime": Field(Kind.MOMENT, "moment"),
        "actor": Field(Kind.TEXT, "actor"),
        "actorName": Field(Kind.TEXT, "actor_name"),
        "action": Field(Kind.TEXT, "action"),
        "verb": Field(Kind.TEXT, "verb"),
        "resource": Field(Kind.TEXT, "resource"),
        "address": Field(Kind.TEXT, "address"),
        "details": Field(Kind.JSON, "details"),
    }
)
"""What a filter of the audit log may name."""


def read_filter(text: str, fields: Fields, parameter: str = "filter") -> Condition | None:
    """The condition that a filter such as `state = ACTIVE AND labels.team = "perf"` stands for.

    Args:
        text: what the client sent.
        fields: what it may name.
        parameter: where the client sent it, for the error.

    Raises:
        ApiError: it is no filter; the details say at which character, from 1, and what was expected.
    """
    try:
        tree = parse(text)
        return None if tree is None else condition_of(tree, fields)
    except FilterError as error:
        place = str(error.position + 1)
        detail = {"field": parameter, "description": error.message, "position": place}
        message = f"{parameter}: At character {place}: {error.message}"
        raise ApiError(INVALID, message, [detail]) from error
