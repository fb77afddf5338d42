"""Which records a list holds, as plain values, and as SQL that means the same on SQLite and PostgreSQL.

Every condition is true or false, never unknown: what a record does not have equals nothing and is neither
less nor greater than anything, so that a negation holds exactly the records that the condition doesn't. Texts
are compared by their bytes, values in JSON by their kind. Knows nothing of how a filter is written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, and_, false, not_, or_, true
from sqlalchemy.orm import InstrumentedAttribute

from server.registry.json_values import is_present, number_at, text_at, truth_at
from server.registry.wildcards import like

Value: TypeAlias = str | float | bool | datetime
Columns: TypeAlias = Mapping[str, InstrumentedAttribute[Any]]
"""A record's attributes that can be asked for."""


class Operator(StrEnum):
    """How a value is compared."""

    EQUAL = "="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


_COMPARE: Mapping[Operator, Callable[[ColumnElement[Any], Any], ColumnElement[bool]]] = (
    MappingProxyType(
        {
            Operator.EQUAL: operator.eq,
            Operator.LESS: operator.lt,
            Operator.LESS_OR_EQUAL: operator.le,
            Operator.GREATER: operator.gt,
            Operator.GREATER_OR_EQUAL: operator.ge,
        }
    )
)


@dataclass(frozen=True)
class Subject:
    """What a condition is about.

    Attributes:
        field: an attribute of the record.
        path: keys that lead into it, where it holds JSON; empty where it doesn't.
    """

    field: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compare:
    """The subject has a value of the same kind, which compares so to this one."""

    subject: Subject
    operator: Operator
    value: Value


@dataclass(frozen=True)
class Matches:
    """The subject is a text of these pieces in this order, with anything between them.

    Attributes:
        pieces: at least two; an empty first or last one stands for any beginning or end.
    """

    subject: Subject
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Present:
    """The subject has a value: no empty text, not null, not absent."""

    subject: Subject


@dataclass(frozen=True)
class AllOf:
    """All of them hold; so does this of none."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyOf:
    """At least one of them holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """It does not hold."""

    part: Condition


Condition: TypeAlias = Compare | Matches | Present | AllOf | AnyOf | Not


def to_sql(condition: Condition, columns: Columns) -> ColumnElement[bool]:
    """The condition on these columns.

    Raises:
        KeyError: it is about an attribute that is not among them.
    """
    if isinstance(condition, AllOf):
        return and_(true(), *(to_sql(part, columns) for part in condition.parts))
    if isinstance(condition, AnyOf):
        return or_(false(), *(to_sql(part, columns) for part in condition.parts))
    if isinstance(condition, Not):
        return not_(to_sql(condition.part, columns))
    column = columns[condition.subject.field]
    path = condition.subject.path
    if isinstance(condition, Present):
        return _present(column, path)
    if isinstance(condition, Matches):
        return _known(
            like(text_at(column, path) if path else column.expression, condition.pieces),
            column,
            path,
        )
    found = _value_at(column, path, condition.value)
    return _known(_COMPARE[condition.operator](found, condition.value), column, path)


def _value_at(
    column: InstrumentedAttribute[Any], path: tuple[str, ...], value: Value
) -> ColumnElement[Any]:
    """What is to be compared with a value of this kind; NULL where there is something of another kind."""
    if not path:
        return column.expression
    if isinstance(value, bool):
        return truth_at(column, path)
    if isinstance(value, float):
        return number_at(column, path)
    return text_at(column, path)


def _present(column: InstrumentedAttribute[Any], path: tuple[str, ...]) -> ColumnElement[bool]:
    if path:
        return is_present(column, path)
    known = column.is_not(None)
    return and_(known, column != "") if column.type.python_type is str else known


def _known(
    compared: ColumnElement[bool], column: InstrumentedAttribute[Any], path: tuple[str, ...]
) -> ColumnElement[bool]:
    """Makes false of unknown."""
    if path:
        return compared.is_(True)
    return and_(column.is_not(None), compared) if column.nullable else compared
