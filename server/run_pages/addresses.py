"""The query of the list of runs: read from an address, checked, and written into addresses again.

Whatever an address holds, there is a page: what can't be meant is left out, with a sentence beside its field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from server.filters import RUN_FIELDS, read_filter
from server.http.errors import ApiError
from server.names import LONGEST_LINE
from server.registry.records import RunState
from server.registry.run_lists import RunOrder, RunQuery
from server.site.days import HOW_TO_WRITE, read_day

ROWS = 50
"""Runs on a page."""
_MOST_WORDS = 8
_MOST_LABELS = 8
_LAST_PAGE = 100_000
_LONGEST_FILTER = 2000
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class RunChoice:
    """What somebody asked the list for, as texts that an address and a form hold.

    Attributes:
        q: words to search for.
        group, state, framework, owner: one of each, or empty.
        labels: `key=value` or `key`.
        since, until: first and last day, as `2026-11-30`, or empty.
        filter: an advanced filter as the API's lists take it.
        sort: a `RunOrder`.
        reverse: whether it goes the other way round.
        page: number from 1.
    """

    q: str = ""
    group: str = ""
    state: str = ""
    framework: str = ""
    owner: str = ""
    labels: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    filter: str = ""
    sort: str = RunOrder.NEWEST.value
    reverse: bool = False
    page: int = 1

    @property
    def is_narrowed(self) -> bool:
        """Whether it asks for less than all runs."""
        return replace(self, sort=RunOrder.NEWEST.value, reverse=False, page=1) != RunChoice()

    @property
    def panel_count(self) -> int:
        """How many fields are filled in that stand in the panel of further filters."""
        texts = (self.group, self.framework, self.owner, self.since, self.until, self.filter)
        return sum(map(bool, texts)) + len(self.labels)

    def pairs(self) -> Sequence[tuple[str, str]]:
        """Names and values of the address, in one order and without what is empty."""
        sort = f"-{self.sort}" if self.reverse else self.sort
        found = [
            ("q", self.q),
            ("group", self.group),
            ("state", self.state),
            ("framework", self.framework),
            ("owner", self.owner),
            *(("label", label) for label in self.labels),
            ("since", self.since),
            ("until", self.until),
            ("filter", self.filter),
            ("sort", "" if sort == RunOrder.NEWEST else sort),
            ("page", "" if self.page == 1 else str(self.page)),
        ]
        return [(name, value) for name, value in found if value]

    def address(self, path: str) -> str:
        """The address of this list."""
        return _address(path, self.pairs())

    def address_without(self, path: str, name: str, value: str) -> str:
        """The address of the list that this is without one of its pairs; from the first page."""
        kept = [pair for pair in self.pairs() if pair != (name, value) and pair[0] != "page"]
        return _address(path, kept)


@dataclass(frozen=True)
class ReadChoice:
    """A choice, the registry's query for it, and what is wrong with it by the name of the field."""

    choice: RunChoice
    query: RunQuery
    problems: Mapping[str, str] = field(default_factory=dict)


def _address(path: str, pairs: Sequence[tuple[str, str]]) -> str:
    return f"{path}?{urlencode(pairs)}" if pairs else path


def read_choice(sent: QueryParams) -> ReadChoice:
    """What an address asks for."""
    sort = _line(sent.get("sort", ""))
    order = sort.removeprefix("-")
    is_known = order in {one.value for one in RunOrder}
    choice = RunChoice(
        q=_line(sent.get("q", "")),
        group=_line(sent.get("group", "")),
        state=_line(sent.get("state", "")),
        framework=_line(sent.get("framework", "")).lower(),
        owner=_line(sent.get("owner", "")),
        labels=_labels(sent.getlist("label")),
        since=_line(sent.get("since", "")),
        until=_line(sent.get("until", "")),
        filter=_line(sent.get("filter", ""), _LONGEST_FILTER),
        sort=order if is_known else RunOrder.NEWEST.value,
        reverse=is_known and sort.startswith("-"),
        page=_page(sent.get("page", "")),
    )
    return _checked(choice)


def _checked(choice: RunChoice) -> ReadChoice:
    problems: dict[str, str] = {}
    query = RunQuery(
        words=tuple(choice.q.split()[:_MOST_WORDS]),
        group=choice.group,
        labels=tuple(_key_and_value(label) for label in choice.labels),
        framework=choice.framework,
        owner=choice.owner,
        order=RunOrder(choice.sort),
        reverse=choice.reverse,
        page=choice.page,
        size=ROWS,
    )
    try:
        query = replace(query, state=RunState(choice.state) if choice.state else None)
    except ValueError:
        problems["state"] = "There is no such state."
    since, until = _day(choice.since, "since", problems), _day(choice.until, "until", problems)
    if since and until and until < since:
        problems["until"] = "The last day is before the first one."
        until = None
    end = None if until is None else until + timedelta(days=1)
    query = replace(query, since=since, until=end)
    try:
        query = replace(query, condition=read_filter(choice.filter, RUN_FIELDS))
    except ApiError as problem:
        problems["filter"] = problem.message
    return ReadChoice(choice, query, problems)


def _day(text: str, name: str, problems: dict[str, str]) -> datetime | None:
    day = read_day(text) if text else None
    if text and day is None:
        problems[name] = HOW_TO_WRITE
    return day


def _line(text: str, longest: int = LONGEST_LINE) -> str:
    return _CONTROLS.sub(" ", text).strip()[:longest]


def _labels(sent: Sequence[str]) -> tuple[str, ...]:
    """Each once, and none that no label can be."""
    found = [label for label in map(_line, sent) if _key_and_value(label)[0]]
    usable = [label for label in found if not set(_key_and_value(label)[0]) & {'"', "\\"}]
    return tuple(dict.fromkeys(usable))[:_MOST_LABELS]


def _key_and_value(label: str) -> tuple[str, str]:
    key, _, value = label.partition("=")
    return key.strip(), value.strip()


def _page(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(_LAST_PAGE))
    return min(max(int(text), 1), _LAST_PAGE) if is_number else 1
