"""What the page of run groups shows, and what its form asks for, so that the template decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from server.registry.groups import LargeRun, RunGroup
from server.site.paths import run_page

_MOST_DAYS = 36_500
_LONGEST_NOTE = 4000


@dataclass(frozen=True)
class GroupRow:
    """A group in the table.

    Attributes:
        group: the group.
        runs_address: page of its runs, below the hub's prefix.
        kept: how long its sessions are kept, in words.
        share: hundredths of what all groups store.
    """

    group: RunGroup
    runs_address: str
    kept: str
    share: int


@dataclass(frozen=True)
class LargeRunRow:
    """A run in the list of the largest.

    Attributes:
        run: the run.
        address: its page, below the hub's prefix.
    """

    run: LargeRun
    address: str


@dataclass(frozen=True)
class GroupForm:
    """What somebody has asked for in the form of one group.

    Attributes:
        group: id of the group.
        days: as it was typed.
        session_days: days that sessions are kept; None: without end.
        is_held: whether there is to be a hold.
        note: for people.
        problem: why it can't be done, in words; empty when it can.
    """

    group: str
    days: str
    session_days: int | None
    is_held: bool
    note: str
    problem: str = ""


def group_rows(groups: Sequence[RunGroup]) -> tuple[GroupRow, ...]:
    """The rows of the table, in the order of the groups."""
    total = sum(group.usage.total_bytes for group in groups)
    return tuple(
        GroupRow(
            group,
            f"/runs?{urlencode({'group': group.id})}",
            kept_in_words(group.session_days),
            round(100 * group.usage.total_bytes / total) if total else 0,
        )
        for group in groups
    )


def run_rows(runs: Sequence[LargeRun]) -> tuple[LargeRunRow, ...]:
    """The rows of the largest runs."""
    return tuple(LargeRunRow(run, run_page("", run.id)) for run in runs)


def kept_in_words(days: int | None) -> str:
    """How long a group's sessions are kept."""
    if days is None:
        return "without end"
    return "1 day" if days == 1 else f"{days} days"


def read_group_form(fields: Mapping[str, str]) -> GroupForm:
    """What the form says; `problem` names what can't be taken."""
    days = fields.get("days", "").strip()
    note = fields.get("note", "").strip().replace("\r\n", "\n")
    form = GroupForm(
        group=fields.get("group", ""),
        days=days,
        session_days=int(days) if days.isascii() and days.isdigit() and len(days) < 6 else None,
        is_held=fields.get("held") == "on",
        note=note,
    )
    if days and (form.session_days is None or not 1 <= form.session_days <= _MOST_DAYS):
        return _refused(form, f"Days are a whole number from 1 to {_MOST_DAYS}, or nothing at all.")
    if len(note) > _LONGEST_NOTE:
        return _refused(form, f"A note has at most {_LONGEST_NOTE} characters.")
    return form


def _refused(form: GroupForm, problem: str) -> GroupForm:
    return GroupForm(form.group, form.days, None, form.is_held, form.note, problem)
