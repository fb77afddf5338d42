"""Which of two runs' configurations differ: nested documents become lines, and lines are compared. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from server.registry.records import Json

_MOST_LINES = 2000
"""Of one run; what goes beyond is not compared, and said so."""
_MOST_VALUE = 500
"""Characters of a value; a longer one is cut, after it was compared whole."""


@dataclass(frozen=True)
class ConfigLine:
    """One setting of both runs.

    Attributes:
        name: where it stands, such as `userConfigs.batch_size`.
        left: its value as text; None where the left run does not have it.
        right: likewise.
    """

    name: str
    left: str | None
    right: str | None


@dataclass(frozen=True)
class ConfigComparison:
    """What two runs are configured with.

    Attributes:
        differing: what is not the same, by name.
        same: what is, by name.
        is_cut: whether there were too many lines.
    """

    differing: tuple[ConfigLine, ...]
    same: tuple[ConfigLine, ...]
    is_cut: bool = False


def compare_configs(left: Mapping[str, Json], right: Mapping[str, Json]) -> ConfigComparison:
    """Compares two runs' `configs`; `1`, `1.0` and `"1"` are the same, for clients send one or the other."""
    lefts, rights = _lines(left), _lines(right)
    differing: list[ConfigLine] = []
    same: list[ConfigLine] = []
    for name in sorted({**lefts, **rights}):
        one, other = lefts.get(name), rights.get(name)
        line = ConfigLine(name, _shown(one), _shown(other))
        (same if one == other else differing).append(line)
    is_cut = max(len(lefts), len(rights)) >= _MOST_LINES
    return ConfigComparison(tuple(differing), tuple(same), is_cut)


def _lines(configs: Mapping[str, Json]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _flat("", dict(configs)):
        if len(found) >= _MOST_LINES:
            break
        found[name] = value
    return found


def _flat(place: str, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, below in value.items():
            yield from _flat(f"{place}.{key}" if place else key, below)
    elif place:
        yield place, _text(value)


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _shown(value: str | None) -> str | None:
    if value is None or len(value) <= _MOST_VALUE:
        return value
    return f"{value[: _MOST_VALUE - 1]}…"
