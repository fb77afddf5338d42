"""Random records of runs, and random filters with what they mean in plain Python, written from docs/api.md.

Shares nothing with `server.filters`: a filter is made together with the function that it should be.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from server.registry.records import Json, Run, RunState

Predicate = Callable[[Run], bool]
Comparable = TypeVar("Comparable", bytes, datetime, float)

TEXTS = (
    *("", "a", "A", "b", "ab", "aXb", "ä", "Ä", "a b", "a*b", "a?b", "50%", "x_y", "xzy", "[ab]"),
    *("\\", "it's", 'say "a"', "true", "null", "\U0001f600", "a.b", "AND", "(", "NOT"),
    *("64", "6", "-0.5", "064", "6.", ".5", "1e1", "6\u0664"),
)
NUMBERS_AS_TEXTS = {"64": 64.0, "6": 6.0, "-0.5": -0.5, "064": 64.0}
"""Those of `TEXTS` that are numbers."""
LINES = ("64\n", "a\nb")
"""Texts that only JSON may hold; no filter can name them."""
KEYS = ("a", "b", "key.with dot", "ä", "0", "A", "it's", "\U0001f600", "$[0]")
NUMBERS: tuple[Json, ...] = (0, 6, 64, -1, -0.5, 2.5, 1e3, 10**25, True, False, None)
MOMENTS = tuple(
    datetime(2026, 1, 31, 12, tzinfo=UTC) + timedelta(hours=n, microseconds=n) for n in range(6)
)

_TEXT_FIELDS: tuple[tuple[str, Callable[[Run], str]], ...] = (
    ("displayName", lambda run: run.display_name),
    ("run_set", lambda run: run.run_set),
    ("creator", lambda run: run.creator),
    ("storageRoot", lambda run: run.storage_root),
)
_MOMENT_FIELDS: tuple[tuple[str, Callable[[Run], datetime | None]], ...] = (
    ("createTime", lambda run: run.created),
    ("end_time", lambda run: run.ended),
)
_DOCUMENT_FIELDS: tuple[tuple[str, Callable[[Run], object]], ...] = (
    ("labels", lambda run: run.labels),
    ("configs", lambda run: run.configs),
    ("workload", lambda run: run.workload),
)


@dataclass(frozen=True)
class Filter:
    """A filter's text, and whether it holds a run."""

    text: str
    holds: Predicate


def random_json(chance: random.Random, depth: int = 0) -> Json:
    """A value as configs hold it."""
    kind = chance.randrange(5 if depth < 3 else 3)
    if kind == 0:
        return chance.choice(NUMBERS)
    if kind < 3:
        return chance.choice((*TEXTS, *LINES))
    if kind == 3:
        return [random_json(chance, depth + 1) for _ in range(chance.randrange(3))]
    return {chance.choice(KEYS): random_json(chance, depth + 1) for _ in range(chance.randrange(4))}


def random_document(chance: random.Random) -> dict[str, Json]:
    """An object as configs are."""
    return {chance.choice(KEYS): random_json(chance) for _ in range(chance.randrange(5))}


def random_labels(chance: random.Random) -> dict[str, str]:
    """Labels."""
    return {chance.choice(KEYS): chance.choice(TEXTS) for _ in range(chance.randrange(4))}


def random_filter(chance: random.Random, depth: int = 0) -> Filter:
    """A filter of any shape: AND of OR of conditions and of filters in parentheses."""
    groups = [_alternatives(chance, depth) for _ in range(chance.choice((1, 1, 2, 3)))]
    text = " AND ".join(group.text for group in groups)
    return Filter(text, lambda run: all(group.holds(run) for group in groups))


def _alternatives(chance: random.Random, depth: int) -> Filter:
    terms = [_term(chance, depth) for _ in range(chance.choice((1, 1, 2)))]
    text = " OR ".join(term.text for term in terms)
    return Filter(text, lambda run: any(term.holds(run) for term in terms))


def _term(chance: random.Random, depth: int) -> Filter:
    if depth < 3 and chance.random() < 0.2:
        inner = random_filter(chance, depth + 1)
        found = Filter(f"({inner.text})", inner.holds)
    else:
        found = chance.choice(
            (_text_condition, _state_condition, _moment_condition, _json_condition)
        )(chance)
    sign = chance.choice(("", "", "NOT ", "-"))
    return Filter(sign + found.text, lambda run: not found.holds(run)) if sign else found


def _text_condition(chance: random.Random) -> Filter:
    name, get = chance.choice(_TEXT_FIELDS)
    comparator = chance.choice(("=", "!=", "<", "<=", ">", ">=", ":"))
    value = chance.choice(TEXTS)
    if chance.random() < 0.1:
        return Filter(f"{name}:*", lambda run: get(run) != "")
    if comparator in {"=", "!="} and chance.random() < 0.4:
        text, matches = _wildcard(chance)
        return Filter(
            f"{name} {comparator} {text}", _signed(comparator, lambda run: matches(get(run)))
        )
    return Filter(
        f"{name}{comparator}{quoted(value)}", lambda run: compare(get(run), comparator, value)
    )


def _state_condition(chance: random.Random) -> Filter:
    state = chance.choice(list(RunState))
    comparator = chance.choice(("=", "!=", ":"))
    return Filter(
        f"state {comparator} {state.value}",
        lambda run: (run.state is state) == (comparator != "!="),
    )


def _moment_condition(chance: random.Random) -> Filter:
    name, get = chance.choice(_MOMENT_FIELDS)
    if chance.random() < 0.2:
        return Filter(f"{name}:*", lambda run: get(run) is not None)
    moment = chance.choice(MOMENTS)
    text = moment.isoformat().replace("+00:00", chance.choice(("Z", "+00:00")))
    comparator = chance.choice(("=", "!=", "<", "<=", ">", ">="))

    def holds(run: Run) -> bool:
        found = get(run)
        return comparator == "!=" if found is None else compare_any(found, comparator, moment)

    return Filter(f"{name} {comparator} {text}", holds)


def _json_condition(chance: random.Random) -> Filter:
    name, get = chance.choice(_DOCUMENT_FIELDS)
    path = [chance.choice(KEYS) for _ in range(1 if name == "labels" else chance.choice((1, 1, 2)))]
    kind = chance.randrange(5)
    if kind == 0:
        return Filter(
            f"{name}:{json.dumps(path[0])}", lambda run: _is_there(_at(get(run), path[:1]))
        )
    subject = ".".join(
        [name, *(json.dumps(key, ensure_ascii=chance.random() < 0.5) for key in path)]
    )
    if kind == 1:
        return Filter(f"{subject}:*", lambda run: _is_there(_at(get(run), path)))
    if kind == 2:
        value = chance.choice(TEXTS)
        return Filter(f"{subject}:{quoted(value)}", lambda run: _has(_at(get(run), path), value))
    if kind == 3:
        number = chance.choice((0, 6, 64, -0.5, 2.5))
        comparator = chance.choice(("=", "!=", "<", "<=", ">", ">="))
        return Filter(
            f"{subject} {comparator} {number}",
            lambda run: _compare_number(_at(get(run), path), comparator, number),
        )
    value = chance.choice(TEXTS)
    comparator = chance.choice(("=", "!=", "<", "<=", ">", ">="))
    return Filter(
        f"{subject} {comparator} {quoted(value)}",
        lambda run: compare(_at(get(run), path), comparator, value),
    )


def quoted(text: str) -> str:
    """A text in quotes, without stars that stand for anything."""
    return json.dumps(text).replace("*", "\\*")


def compare(found: Json, comparator: str, value: str) -> bool:
    """As texts, by their bytes; what is no text is not equal and neither less nor greater."""
    if not isinstance(found, str):
        return comparator == "!="
    if comparator == ":":
        return value in found
    return compare_any(found.encode(), comparator, value.encode())


def compare_any(left: Comparable, comparator: str, right: Comparable) -> bool:
    """Whether two values of one kind compare so."""
    answers = {
        "=": left == right,
        "!=": left != right,
        "<": left < right,
        "<=": left <= right,
        ">": left > right,
        ">=": left >= right,
    }
    return answers[comparator]


def _wildcard(chance: random.Random) -> tuple[str, Callable[[str], bool]]:
    piece = chance.choice([text for text in TEXTS if text])
    inner = quoted(piece)[1:-1]
    return chance.choice(
        (
            (f'"{inner}*"', lambda text: text.startswith(piece)),
            (f'"*{inner}"', lambda text: text.endswith(piece)),
            (f'"*{inner}*"', lambda text: piece in text),
        )
    )


def _signed(comparator: str, holds: Predicate) -> Predicate:
    return holds if comparator == "=" else lambda run: not holds(run)


def _compare_number(found: Json, comparator: str, number: float) -> bool:
    """A bare number is compared with numbers, and with texts that are plain decimal numbers."""
    if isinstance(found, str):
        found = NUMBERS_AS_TEXTS.get(found)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return comparator == "!="
    return compare_any(float(found), comparator, float(number))


def _has(found: Json, value: str) -> bool:
    if isinstance(found, str):
        return value in found
    has_key = '"' not in value and "\\" not in value and isinstance(found, dict)
    return has_key and _is_there(found.get(value) if isinstance(found, dict) else None)


def _is_there(found: Json) -> bool:
    return found is not None and found != ""


def _at(document: object, path: list[str]) -> Json:
    found = document
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found  # type: ignore[return-value]  # documents hold JSON
