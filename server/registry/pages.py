"""Walking through lists by key: what was there at the start is seen once, whatever is added meanwhile."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar

from sqlalchemy import Select, and_, inspect, or_
from sqlalchemy.orm import InstrumentedAttribute, Session

Record = TypeVar("Record")
Row = TypeVar("Row")

MOST_BYTES = 8 << 20
"""What the documents of a page's records may be together, in characters of JSON; one record may be more."""
_AT_ONCE = 16
"""Rows that the database sends at a time."""

SortValue: TypeAlias = str | datetime
Position: TypeAlias = tuple[SortValue, int]
"""Sort value and key of the last record of a page."""
SortColumn: TypeAlias = InstrumentedAttribute[str] | InstrumentedAttribute[datetime]


@dataclass(frozen=True)
class PageRequest:
    """Which part of a list is wanted.

    Attributes:
        size: most records.
        field: name of the record's attribute to sort by.
        descending: greatest first.
        after: where the page before ended, or None for the first page.
    """

    size: int
    field: str = "created"
    descending: bool = True
    after: Position | None = None


@dataclass(frozen=True)
class Page(Generic[Record]):
    """A part of a list, and where it ended if there is more."""

    records: tuple[Record, ...]
    next: Position | None


def fetch_page(
    session: Session,
    query: Select[Row],
    column: SortColumn,
    key: InstrumentedAttribute[int],
    request: PageRequest,
) -> tuple[list[Row], Position | None]:
    """The rows of a page, and the position of the last one if there are more.

    The key breaks ties, so that records made in the same microsecond have one order. A page ends early when
    its documents become too many to be held and answered at once (AIP-158 allows that).
    """
    if request.after is not None:
        value, last = request.after
        beyond = column < value if request.descending else column > value
        next_key = key < last if request.descending else key > last
        query = query.where(or_(beyond, and_(column == value, next_key)))
    order = [column.desc(), key.desc()] if request.descending else [column.asc(), key.asc()]
    # One more than asked for tells whether there is another page.
    query = query.order_by(*order).limit(request.size + 1).execution_options(yield_per=_AT_ONCE)
    rows: list[Row] = []
    weight = 0
    with session.scalars(query) as found:
        for row in found:
            if len(rows) == request.size or weight > MOST_BYTES:
                return rows, (getattr(rows[-1], column.key), getattr(rows[-1], key.key))
            rows.append(row)
            weight += _weight_of(row)
    return rows, None


def _weight_of(row: object) -> int:
    """Characters of a row's documents; all else in it is small."""
    values = (getattr(row, attribute.key) for attribute in inspect(row).mapper.column_attrs)
    return sum(len(json.dumps(value)) for value in values if isinstance(value, dict | list))
