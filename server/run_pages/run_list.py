"""What the list of runs shows: rows, chips of what is filtered by, choices, addresses of other lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from urllib.parse import quote

from server.registry.records import RunState
from server.registry.run_lists import ListedRun, RunChoices, RunListPage, RunOrder
from server.run_pages.addresses import ROWS, ReadChoice, RunChoice

MOST_LABELS = 3
"""Labels of a run that its row shows."""
STATE_WORDS: Mapping[RunState, str] = MappingProxyType(
    {
        RunState.ACTIVE: "Active",
        RunState.COMPLETED: "Completed",
        RunState.FAILED: "Failed",
        RunState.LOST: "Lost",
    }
)
STATE_KINDS: Mapping[RunState, str] = MappingProxyType(
    {
        RunState.ACTIVE: "accent",
        RunState.COMPLETED: "good",
        RunState.FAILED: "bad",
        RunState.LOST: "warn",
    }
)
"""Kinds of badges, as `_parts.html` has them."""
ORDER_WORDS: Mapping[RunOrder, str] = MappingProxyType(
    {
        RunOrder.NEWEST: "Newest first",
        RunOrder.NAME: "Name",
        RunOrder.LAST_SESSION: "Last session",
        RunOrder.SESSIONS: "Most sessions",
    }
)
_CHIP_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "q": "Search",
        "group": "Group",
        "state": "State",
        "framework": "Framework",
        "owner": "Owner",
        "label": "Label",
        "since": "From",
        "until": "To",
        "filter": "Filter",
    }
)


@dataclass(frozen=True)
class Label:
    """A label of a run, and the list of all runs that have it."""

    text: str
    href: str


@dataclass(frozen=True)
class RunEntry:
    """A row.

    Attributes:
        href: path of the run's page.
        name: for people.
        id: shown beside the name; empty where it is the same.
        state: a word, with the kind of its badge in `state_kind`.
        group: its group, with the list of all of it in `group_href`.
        labels: the first ones.
        more_labels: how many are not among them.
        active: last sign of life, session, or its beginning.
        hosts, bytes: None where nothing is known.
    """

    href: str
    name: str
    id: str
    state: str
    state_kind: str
    framework: str
    group: str
    group_href: str
    owner: str
    labels: tuple[Label, ...]
    more_labels: int
    created: datetime
    active: datetime
    sessions: int
    hosts: int | None
    bytes: int | None
    warnings: int
    is_held: bool


@dataclass(frozen=True)
class Chip:
    """Something that is filtered by, and the list without that."""

    name: str
    value: str
    href: str


@dataclass(frozen=True)
class Column:
    """A column that can be sorted by: its order's address, and how it is sorted now (as `aria-sort`)."""

    href: str
    sorted: str


@dataclass(frozen=True)
class RunListView:
    """The page.

    Attributes:
        choice: what was asked for; the form shows it again.
        problems: what is wrong with it, by field.
        runs: the rows.
        total: how many there are on all pages.
        first, last: numbers of the first and last row, from 1; 0 without rows.
        chips: what is filtered by.
        clear: the list without any of that.
        columns: what can be sorted by.
        choices: what lists of choices name.
        states, orders: values and words.
        previous, next: addresses, or empty.
        address: of this list, as it should stand in the browser.
        is_empty_hub: whether there is no run at all.
    """

    choice: RunChoice
    problems: Mapping[str, str]
    runs: tuple[RunEntry, ...]
    total: int
    first: int
    last: int
    chips: tuple[Chip, ...]
    clear: str
    columns: Mapping[str, Column]
    choices: RunChoices
    states: tuple[tuple[str, str], ...]
    orders: tuple[tuple[str, str], ...]
    previous: str
    next: str
    address: str
    is_empty_hub: bool


def view_of(read: ReadChoice, found: RunListPage, choices: RunChoices, path: str) -> RunListView:
    """The page of what was found.

    Args:
        read: what was asked for.
        found: what the registry answered.
        choices: what there is to choose from.
        path: of the list, with the path prefix.
    """
    choice = read.choice
    before = (choice.page - 1) * ROWS
    last = before + len(found.runs)
    return RunListView(
        choice=choice,
        problems=read.problems,
        runs=tuple(_entry(run, path) for run in found.runs),
        total=found.total,
        first=before + 1 if found.runs else 0,
        last=last if found.runs else 0,
        chips=_chips(choice, path),
        clear=RunChoice(sort=choice.sort, reverse=choice.reverse).address(path),
        columns={order.value: _column(choice, order, path) for order in RunOrder},
        choices=choices,
        states=(("", "Any state"), *((state.value, STATE_WORDS[state]) for state in RunState)),
        orders=_orders(choice),
        previous=_page(choice, choice.page - 1, path) if choice.page > 1 else "",
        next=_page(choice, choice.page + 1, path) if last < found.total and found.runs else "",
        address=choice.address(path),
        is_empty_hub=not found.total and not choice.is_narrowed,
    )


def labels_of(labels: Mapping[str, str], path: str) -> tuple[Label, ...]:
    """A run's labels by key, each with the list of the runs that have it."""
    texts = sorted(f"{key}={value}" if value else key for key, value in labels.items())
    return tuple(Label(text, RunChoice(labels=(text,)).address(path)) for text in texts)


def _entry(run: ListedRun, path: str) -> RunEntry:
    labels = labels_of(run.labels, path)
    name = run.display_name or run.id
    moments = (run.created, run.seen, run.last_session)
    return RunEntry(
        href=f"{path}/{quote(run.id, safe='')}",
        name=name,
        id="" if name == run.id else run.id,
        state=STATE_WORDS[run.state],
        state_kind=STATE_KINDS[run.state],
        framework=run.framework,
        group=run.run_set,
        group_href=RunChoice(group=run.run_set).address(path) if run.run_set else "",
        owner=run.creator,
        labels=labels[:MOST_LABELS],
        more_labels=max(0, len(labels) - MOST_LABELS),
        created=run.created,
        active=max(moment for moment in moments if moment is not None),
        sessions=run.sessions,
        hosts=run.hosts,
        bytes=run.bytes,
        warnings=run.warnings,
        is_held=run.is_held,
    )


def _chips(choice: RunChoice, path: str) -> tuple[Chip, ...]:
    return tuple(
        Chip(
            _CHIP_WORDS[name],
            value.capitalize() if name == "state" else value,
            choice.address_without(path, name, value),
        )
        for name, value in choice.pairs()
        if name in _CHIP_WORDS
    )


def _column(choice: RunChoice, order: RunOrder, path: str) -> Column:
    """A column that is sorted by already is turned round."""
    is_this = choice.sort == order.value
    changed = replace(choice, sort=order.value, reverse=is_this and not choice.reverse, page=1)
    rises = (order is RunOrder.NAME) != choice.reverse
    how = ("ascending" if rises else "descending") if is_this else ""
    return Column(changed.address(path), how)


def _orders(choice: RunChoice) -> tuple[tuple[str, str], ...]:
    plain = tuple((order.value, word) for order, word in ORDER_WORDS.items())
    if not choice.reverse:
        return plain
    word = ORDER_WORDS[RunOrder(choice.sort)]
    return ((f"-{choice.sort}", f"{word}, turned round"), *plain)


def _page(choice: RunChoice, number: int, path: str) -> str:
    return replace(choice, page=number).address(path)
