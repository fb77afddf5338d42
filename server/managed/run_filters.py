"""What filters of the managed API's lists of runs may name, and what they mean to the registry."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from server.filters import RUN_FIELDS, Field, Fields, Kind, read_filter
from server.managed.names import Place
from server.registry.conditions import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Matches,
    Not,
    Operator,
)
from server.registry.records import RunState

_PHASES = ("ACTIVE", "COMPLETED", "FAILED")
_PREFIX = "STATE_"
_FIELDS: Fields = MappingProxyType(
    {
        **{name: field for name, field in RUN_FIELDS.items() if name not in {"workload"}},
        "runPhase": Field(Kind.CHOICE, "state", _PHASES),
        "state": Field(Kind.CHOICE, "state", tuple(f"{_PREFIX}{phase}" for phase in _PHASES)),
        "workloadDetails": Field(Kind.JSON, "workload", path=("workloadDetails",)),
    }
)


def runs_condition(place: Place, text: str) -> Condition | None:
    """The runs of a place that a filter asks for; None for all runs there are.

    Raises:
        ApiError: it is no filter.
    """
    asked = read_filter(text, _FIELDS)
    parts = [part for part in (place.condition(), asked and _in_states(asked)) if part is not None]
    return AllOf(tuple(parts)) if parts else None


def _in_states(condition: Condition) -> Condition:
    """The condition with the registry's states instead of Google's: a lost run counts as failed."""
    if isinstance(condition, AllOf | AnyOf):
        return replace(condition, parts=tuple(_in_states(part) for part in condition.parts))
    if isinstance(condition, Not):
        return Not(_in_states(condition.part))
    if isinstance(condition, Matches) or condition.subject.field != "state":
        return condition
    if not isinstance(condition, Compare) or condition.operator is not Operator.EQUAL:
        return condition
    state = str(condition.value).removeprefix(_PREFIX)
    same = replace(condition, value=state)
    if state != RunState.FAILED.value:
        return same
    return AnyOf((same, replace(condition, value=RunState.LOST.value)))
