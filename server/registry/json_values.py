"""Values inside JSON columns as SQL, the same on SQLite and PostgreSQL: NULL for what is not of that kind.

The two databases name kinds differently, order texts differently unless told, and PostgreSQL fails on a cast
that can't be made; everything about that stands here.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Double, Text, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

Column = InstrumentedAttribute[Any]

_DIGITS = 300
"""A number that takes more characters than this may have no value as a float, and is no number here."""

PLAIN_NUMBER = "plain_number"
"""Name of `plain_number` in SQLite, which has no pattern for numbers."""
_PLAIN = r"-?[0-9]{1,15}([.][0-9]{1,15})?"
"""Texts that are numbers: few enough digits to be read alike everywhere."""


def plain_number(text: str) -> float | None:
    """The number that a text is, or None."""
    return float(text) if re.fullmatch(_PLAIN, text) else None


class _JsonValue(ColumnElement[Any]):
    """A value at a path of a JSON column; subclasses say of which kind."""

    inherit_cache = False

    def __init__(self, column: Column, path: tuple[str, ...], kind: TypeEngine[Any]) -> None:
        self.column = column.expression
        self.path = path
        self.type = kind


class _TextAt(_JsonValue):
    inherit_cache = False


class _NumberAt(_JsonValue):
    inherit_cache = False


class _TruthAt(_JsonValue):
    inherit_cache = False


class _KindAt(_JsonValue):
    inherit_cache = False


def text_at(column: Column, path: tuple[str, ...]) -> ColumnElement[str]:
    """The text there, compared by its bytes."""
    return _TextAt(column, path, Text())


def number_at(column: Column, path: tuple[str, ...]) -> ColumnElement[float]:
    """The number there, or the one that a text there is: jobs send their configuration as texts."""
    return _NumberAt(column, path, Double())


def truth_at(column: Column, path: tuple[str, ...]) -> ColumnElement[bool]:
    """The boolean there."""
    return _TruthAt(column, path, Boolean())


def is_present(column: Column, path: tuple[str, ...]) -> ColumnElement[bool]:
    """Whether there is anything but null and an empty text."""
    known = _KindAt(column, path, Text()).is_distinct_from("null")
    filled = _TextAt(column, path, Text()).is_distinct_from("")
    there: ColumnElement[bool] = _KindAt(column, path, Text()).is_not(None)
    return there & known & filled


def _sqlite_place(element: _JsonValue, compiler: SQLCompiler, keywords: dict[str, object]) -> str:
    # Keys are stored as json.dumps writes them, and SQLite before 3.45 compares them as they are stored.
    path = "$" + "".join(f".{json.dumps(key)}" for key in element.path)
    column = compiler.process(element.column, **keywords)
    return f"{column}, {compiler.process(literal(path, Text()), **keywords)}"


def _postgresql_place(
    element: _JsonValue, compiler: SQLCompiler, keywords: dict[str, object], *, as_text: bool
) -> str:
    # A key by a key: as one path, '0' would count the elements of a list.
    found = compiler.process(element.column, **keywords)
    for number, key in enumerate(element.path, start=1):
        arrow = "->>" if as_text and number == len(element.path) else "->"
        found = (
            f"({found} {arrow} CAST({compiler.process(literal(key, Text()), **keywords)} AS TEXT))"
        )
    return found


@compiles(_KindAt, "sqlite")
def _sqlite_kind(element: _KindAt, compiler: SQLCompiler, **keywords: object) -> str:
    return f"json_type({_sqlite_place(element, compiler, keywords)})"


@compiles(_KindAt, "postgresql")
def _postgresql_kind(element: _KindAt, compiler: SQLCompiler, **keywords: object) -> str:
    return f"json_typeof({_postgresql_place(element, compiler, keywords, as_text=False)})"


@compiles(_TextAt, "sqlite")
def _sqlite_text(element: _TextAt, compiler: SQLCompiler, **keywords: object) -> str:
    return (
        f"CASE json_type({_sqlite_place(element, compiler, keywords)}) WHEN 'text' "
        f"THEN json_extract({_sqlite_place(element, compiler, keywords)}) END"
    )


@compiles(_TextAt, "postgresql")
def _postgresql_text(element: _TextAt, compiler: SQLCompiler, **keywords: object) -> str:
    kind = _postgresql_place(element, compiler, keywords, as_text=False)
    value = _postgresql_place(element, compiler, keywords, as_text=True)
    return f"(CASE json_typeof({kind}) WHEN 'string' THEN {value} END COLLATE \"C\")"


@compiles(_NumberAt, "sqlite")
def _sqlite_number(element: _NumberAt, compiler: SQLCompiler, **keywords: object) -> str:
    kind = f"json_type({_sqlite_place(element, compiler, keywords)})"
    value = f"json_extract({_sqlite_place(element, compiler, keywords)})"
    number = f"CAST({value} AS REAL)"
    return (
        f"CASE WHEN {kind} = 'text' THEN {PLAIN_NUMBER}({value}) "
        f"WHEN {kind} IN ('integer', 'real') AND abs({number}) < 1e{_DIGITS} THEN {number} END"
    )


@compiles(_NumberAt, "postgresql")
def _postgresql_number(element: _NumberAt, compiler: SQLCompiler, **keywords: object) -> str:
    kind = f"json_typeof({_postgresql_place(element, compiler, keywords, as_text=False)})"
    value = _postgresql_place(element, compiler, keywords, as_text=True)
    number = f"CAST({value} AS DOUBLE PRECISION)"
    plain = compiler.process(literal(f"^({_PLAIN})$", Text()), **keywords)
    return (
        f"CASE WHEN {kind} = 'string' THEN CASE WHEN {value} ~ {plain} THEN {number} END "
        f"WHEN {kind} <> 'number' OR length({value}) > {_DIGITS + 1} THEN NULL "
        f"WHEN abs({number}) < 1e{_DIGITS} THEN {number} END"
    )


@compiles(_TruthAt, "sqlite")
def _sqlite_truth(element: _TruthAt, compiler: SQLCompiler, **keywords: object) -> str:
    kind = f"json_type({_sqlite_place(element, compiler, keywords)})"
    return f"CASE {kind} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"


@compiles(_TruthAt, "postgresql")
def _postgresql_truth(element: _TruthAt, compiler: SQLCompiler, **keywords: object) -> str:
    kind = _postgresql_place(element, compiler, keywords, as_text=False)
    value = _postgresql_place(element, compiler, keywords, as_text=True)
    return f"CASE WHEN json_typeof({kind}) = 'boolean' THEN {value} = 'true' END"
