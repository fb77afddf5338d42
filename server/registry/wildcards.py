"""Texts with gaps as SQL, upper and lower case told apart on both databases.

SQLite's LIKE takes `A` and `a` for the same, so GLOB it is there.
"""

from __future__ import annotations

import re

from sqlalchemy import Boolean, ColumnElement, Text, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

_GLOB_SPECIAL = re.compile(r"[*?\[]")
_LIKE_SPECIAL = re.compile(r"[%_\\]")


class _Like(ColumnElement[bool]):
    inherit_cache = False
    type = Boolean()

    def __init__(self, subject: ColumnElement[str], pieces: tuple[str, ...]) -> None:
        self.subject = subject
        self.pieces = pieces


def like(subject: ColumnElement[str], pieces: tuple[str, ...]) -> ColumnElement[bool]:
    """Whether a text consists of these pieces in this order, with anything between them."""
    return _Like(subject, pieces)


@compiles(_Like, "sqlite")
def _sqlite(element: _Like, compiler: SQLCompiler, **keywords: object) -> str:
    pattern = "*".join(_GLOB_SPECIAL.sub(r"[\g<0>]", piece) for piece in element.pieces)
    return _compared(element, "GLOB", pattern, compiler, keywords)


@compiles(_Like, "postgresql")
def _postgresql(element: _Like, compiler: SQLCompiler, **keywords: object) -> str:
    pattern = "%".join(_LIKE_SPECIAL.sub(r"\\\g<0>", piece) for piece in element.pieces)
    return _compared(element, "LIKE", pattern, compiler, keywords)


def _compared(
    element: _Like, word: str, pattern: str, compiler: SQLCompiler, keywords: dict[str, object]
) -> str:
    subject = compiler.process(element.subject, **keywords)
    return f"({subject} {word} {compiler.process(literal(pattern, Text()), **keywords)})"
