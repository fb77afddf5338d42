"""What the conditions of a filter mean for fields of each kind: from the tree to the registry's conditions.

`!=` is the opposite of `=`, also where there is no value. `:` asks whether a text holds another one, or
whether an object has a key, and `:*` whether there is anything at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import MappingProxyType

from server.filters.errors import FilterError
from server.filters.scanner import Value
from server.filters.tree import And, Negation, Or, Restriction, Tree
from server.names import to_camel
from server.registry.conditions import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Matches,
    Not,
    Operator,
    Present,
    Subject,
)

_OPERATORS: Mapping[str, Operator] = MappingProxyType({one.value: one for one in Operator})
_MOST_PARTS = 17
"""Of a name: a field, and the nesting that its JSON may have."""
_FARTHEST_ZONE = timedelta(days=1)


class Kind(Enum):
    """What a field holds."""

    TEXT = "text"
    ID = "id"
    """A text; the last part of a resource name."""
    CHOICE = "choice"
    MOMENT = "moment"
    NUMBER = "number"
    JSON = "JSON"


@dataclass(frozen=True)
class Field:
    """A field that filters may name.

    Attributes:
        kind: what it holds.
        attribute: the record's name of it.
        choices: all values that it may have, for CHOICE.
        path: keys that lead to it where it lies in JSON.
    """

    kind: Kind
    attribute: str
    choices: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


Fields = Mapping[str, Field]
"""Fields by their names in camelCase."""


def condition_of(tree: Tree, fields: Fields) -> Condition:
    """The registry's condition for a filter.

    Raises:
        FilterError: it names a field that there isn't, or asks of it what can't be asked.
    """
    if isinstance(tree, And):
        return AllOf(tuple(condition_of(part, fields) for part in tree.parts))
    if isinstance(tree, Or):
        return AnyOf(tuple(condition_of(part, fields) for part in tree.parts))
    if isinstance(tree, Negation):
        return Not(condition_of(tree.part, fields))
    field = fields.get(to_camel(tree.name[0]))
    if field is None:
        known = ", ".join(sorted(fields))
        raise FilterError(tree.position, f"There is no field {tree.name[0]!r}; there are {known}.")
    if field.kind is not Kind.JSON and len(tree.name) > 1:
        raise FilterError(tree.position, f"The field {tree.name[0]!r} has no parts.")
    if len(tree.name) > _MOST_PARTS:
        raise FilterError(tree.position, f"A name has {_MOST_PARTS} parts at most.")
    subject = Subject(field.attribute, (*field.path, *tree.name[1:]))
    if tree.comparator == "!=":
        return Not(_MEANINGS[field.kind](field, subject, tree, "="))
    return _MEANINGS[field.kind](field, subject, tree, tree.comparator)


def _text(_field: Field, subject: Subject, asked: Restriction, comparator: str) -> Condition:
    value = asked.value
    if comparator == ":":
        return Present(subject) if value.is_star else Matches(subject, _contained(value))
    if comparator == "=" and value.has_stars:
        return Matches(subject, value.pieces)
    return Compare(subject, _OPERATORS[comparator], _without_stars(value))


def _id(field: Field, subject: Subject, asked: Restriction, comparator: str) -> Condition:
    first, *others = asked.value.pieces
    own = Value((first.rpartition("/")[2], *others), asked.value.is_quoted, asked.value.position)
    restriction = Restriction(
        asked.name, asked.comparator, own, asked.position, asked.comparator_position
    )
    return _text(field, subject, restriction, comparator)


def _choice(field: Field, subject: Subject, asked: Restriction, comparator: str) -> Condition:
    if comparator == ":" and asked.value.is_star:
        return Present(subject)
    _require(asked, comparator, ("=", ":"))
    value = asked.value.text.upper()
    if value not in field.choices:
        message = f"Write one of {', '.join(field.choices)} here."
        raise FilterError(asked.value.position, message)
    return Compare(subject, Operator.EQUAL, value)


def _moment(_field: Field, subject: Subject, asked: Restriction, comparator: str) -> Condition:
    if comparator == ":" and asked.value.is_star:
        return Present(subject)
    _require(asked, comparator, tuple(_OPERATORS))
    return Compare(subject, _OPERATORS[comparator], _moment_of(asked.value))


def _number(_field: Field, subject: Subject, asked: Restriction, comparator: str) -> Condition:
    if comparator == ":" and asked.value.is_star:
        return Present(subject)
    _require(asked, comparator, tuple(_OPERATORS))
    number = _number_of(asked.value.text)
    if number is None:
        raise FilterError(asked.value.position, "Write a number here.")
    return Compare(subject, _OPERATORS[comparator], number)


def _json(_field: Field, subject: Subject, asked: Restriction, comparator: str) -> Condition:
    value = asked.value
    if comparator == ":":
        return _held_by_json(subject, asked)
    if not subject.path:
        message = (
            f"Name a part of it, as in {asked.name[0]}.KEY, or ask for one by {asked.name[0]}:KEY."
        )
        raise FilterError(asked.comparator_position, message)
    if comparator == "=" and value.has_stars:
        return Matches(subject, value.pieces)
    text = _without_stars(value)
    as_text = Compare(subject, _OPERATORS[comparator], text)
    number = None if value.is_quoted else _number_of(text)
    if number is not None:
        as_number = Compare(subject, _OPERATORS[comparator], number)
        return AnyOf((as_text, as_number)) if comparator == "=" else as_number
    if comparator == "=" and not value.is_quoted and text in {"true", "false"}:
        return AnyOf((as_text, Compare(subject, Operator.EQUAL, text == "true")))
    return as_text


def _held_by_json(subject: Subject, asked: Restriction) -> Condition:
    value = asked.value
    if value.is_star and subject.path:
        return Present(subject)
    if value.has_stars or '"' in value.text or "\\" in value.text:
        if subject.path:
            return Matches(subject, _contained(value))
        raise FilterError(value.position, "Write a key here.")
    has_key = Present(Subject(subject.field, (*subject.path, value.text)))
    return AnyOf((Matches(subject, _contained(value)), has_key)) if subject.path else has_key


_Meaning = Callable[[Field, Subject, Restriction, str], Condition]
_MEANINGS: Mapping[Kind, _Meaning] = MappingProxyType(
    {
        Kind.TEXT: _text,
        Kind.ID: _id,
        Kind.CHOICE: _choice,
        Kind.MOMENT: _moment,
        Kind.NUMBER: _number,
        Kind.JSON: _json,
    }
)


def _contained(value: Value) -> tuple[str, ...]:
    return value.pieces if value.has_stars else ("", value.text, "")


def _without_stars(value: Value) -> str:
    if value.has_stars:
        message = "A value with * can be compared by = and != only; write \\* in quotes for the character."
        raise FilterError(value.position, message)
    return value.text


def _require(asked: Restriction, comparator: str, allowed: tuple[str, ...]) -> None:
    if comparator not in allowed:
        known = " ".join(("!=", *allowed))
        message = f"{asked.name[0]} can be compared by {known} only, or asked for by :*."
        raise FilterError(asked.comparator_position, message)


def _moment_of(value: Value) -> datetime:
    """The moment in UTC; a date alone is its first moment there."""
    try:
        moment = datetime.fromisoformat(value.text)
        if "T" not in value.text.upper():
            moment = moment.replace(tzinfo=UTC)
        if moment.tzinfo is None or not _is_in_range(moment):
            raise ValueError("no zone, or a moment that not every zone has a date for")
    except ValueError as error:
        message = 'Write a moment with its zone here, as in "2026-01-31T12:00:00Z", or a date.'
        raise FilterError(value.position, message) from error
    return moment.astimezone(UTC)


def _is_in_range(moment: datetime) -> bool:
    naive = moment.replace(tzinfo=None)
    return datetime.min + _FARTHEST_ZONE < naive < datetime.max - _FARTHEST_ZONE


def _number_of(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
