"""What a job said about itself, as tables: documents of any shape, with an end to depth, rows and texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from server.registry.records import Json

MOST_ROWS = 300
"""Rows of a table, on each level; a job may send a megabyte."""
DEEPEST = 5
"""Levels that are shown as tables; what lies deeper is shown as JSON."""
LONGEST_TEXT = 2000
_TITLES = {
    "userConfigs": "User",
    "softwareConfigs": "Software",
    "hardwareConfigs": "Hardware",
}


@dataclass(frozen=True)
class ConfigRow:
    """A value, or the rows of what is inside it.

    Attributes:
        name: its key.
        text: the value, cut where it is long; empty with rows.
        rows: what is inside.
    """

    name: str
    text: str
    rows: tuple[ConfigRow, ...] = ()


@dataclass(frozen=True)
class ConfigTable:
    """A part of what a job said.

    Attributes:
        title: for people.
        rows: its values.
        left_out: how many more there are.
    """

    title: str
    rows: tuple[ConfigRow, ...]
    left_out: int = 0


def config_tables(configs: Mapping[str, Json]) -> tuple[ConfigTable, ...]:
    """The user's, the software's and the hardware's configuration, and whatever else was sent."""
    known = [
        _table(title, found)
        for name, title in _TITLES.items()
        if isinstance(found := configs.get(name), dict) and found
    ]
    rest = {
        name: value
        for name, value in configs.items()
        if name not in _TITLES or not isinstance(value, dict)
    }
    return (*known, _table("Other", rest)) if rest else tuple(known)


def document_table(title: str, document: Mapping[str, Json]) -> tuple[ConfigTable, ...]:
    """A single document as a table; none where it is empty."""
    return (_table(title, document),) if document else ()


def _table(title: str, document: Mapping[str, Json]) -> ConfigTable:
    rows = tuple(islice(_rows(document, 1), MOST_ROWS))
    return ConfigTable(title, rows, max(0, len(document) - MOST_ROWS))


def _rows(document: Mapping[str, Json], depth: int) -> Iterator[ConfigRow]:
    for name in sorted(document):
        yield _row(name, document[name], depth)


def _row(name: str, value: Json, depth: int) -> ConfigRow:
    if isinstance(value, list) and all(isinstance(item, dict | list) for item in value):
        value = {str(number): item for number, item in enumerate(value, start=1)}
    if isinstance(value, dict) and value and depth < DEEPEST:
        return ConfigRow(name, "", tuple(islice(_rows(value, depth + 1), MOST_ROWS)))
    return ConfigRow(name, _cut(_text(value)))


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return ", ".join(_text(item) for item in value)
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
