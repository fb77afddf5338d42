"""What the page of a run shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from server.comments.text import Piece, pieces_of
from server.lifecycle.due import Due
from server.registry.prewarm import PrewarmState
from server.registry.records import ProfilerSession, Run, RunState, SessionState
from server.registry.run_facts import RunAttempt
from server.registry.summaries import SessionSummary
from server.run_pages.addresses import RunChoice
from server.run_pages.config_tables import ConfigTable, config_tables, document_table
from server.run_pages.history import Happening
from server.run_pages.run_list import STATE_KINDS, STATE_WORDS, Label, labels_of
from server.sessions.words import KIND_WORDS, PREWARM_WORDS
from server.site.paths import run_page, session_page
from server.ui.sparkline import Sparkline, sparkline
from server.ui.words import duration
from server.xprof.prewarm import shown_state

_UNSAID = frozenset({PrewarmState.DONE, PrewarmState.SKIPPED})
"""States of converting in advance that need no word in a list: nobody waits for anything."""


@dataclass(frozen=True)
class RunRights:
    """What the person may do with the run."""

    write: bool
    hold: bool
    links: bool


@dataclass(frozen=True)
class Badge:
    """A word with a kind, as `ui.badge` takes them."""

    text: str
    kind: str


@dataclass(frozen=True)
class SessionCard:
    """A session of the run.

    Attributes:
        id: of the session.
        href: path of its page.
        name: for people.
        kind: how it came here.
        badges: what is special about it.
        hosts: such as `4` or `3 of 4`; empty when nothing is known.
        is_short: whether hosts are missing.
        bytes: size of its profiles, or None.
        steps: its step times, or None.
        average_step: in words, or empty.
        device: count and kind of devices, or empty.
        due: when it is deleted by itself, or None.
    """

    id: str
    href: str
    name: str
    kind: str
    created: datetime
    badges: tuple[Badge, ...]
    hosts: str
    is_short: bool
    bytes: int | None
    steps: Sparkline | None
    average_step: str
    device: str
    due: datetime | None


@dataclass(frozen=True)
class AttemptEntry:
    """A try of the job."""

    number: int
    state: Badge
    started: datetime
    ended: datetime | None
    seconds: float | None


@dataclass(frozen=True)
class RunView:
    """The page."""

    href: str
    id: str
    name: str
    state: Badge
    labels: tuple[Label, ...]
    group: str
    group_href: str
    owner: str
    owner_href: str
    created: datetime
    ended: datetime | None
    seen: datetime | None
    storage_root: str
    is_held: bool
    note: str
    note_pieces: tuple[Piece, ...]
    warnings: tuple[str, ...]
    tables: tuple[ConfigTable, ...]
    attempts: tuple[AttemptEntry, ...]
    more_attempts: bool
    sessions: tuple[SessionCard, ...]
    session_count: int
    bytes: int | None
    hosts: int | None
    next: str
    first: str
    history: tuple[Happening, ...]
    has_audit: bool
    rights: RunRights
    may_merge: bool
    commands: tuple[str, str]


@dataclass(frozen=True)
class SessionsPart:
    """A page of a run's sessions, with what is known of them; by identity where it is a mapping."""

    sessions: Sequence[ProfilerSession]
    summaries: Mapping[str, SessionSummary]
    dues: Mapping[str, Due]
    count: int
    next: str
    first: str


def run_view(
    run: Run,
    part: SessionsPart,
    attempts: Sequence[RunAttempt],
    history: Sequence[Happening],
    rights: RunRights,
    *,
    prefix: str,
    stored: int | None,
    has_audit: bool,
    now: datetime,
) -> RunView:
    """Puts together what was read.

    Args:
        run: the run.
        part: a page of its sessions.
        attempts: its newest ones, the first one first.
        history: what happened.
        rights: of the person.
        prefix: the path prefix.
        stored: bytes of all its profiles, or None.
        has_audit: whether the history holds the audit log's events.
        now: UTC.
    """
    path = f"{prefix}/runs"
    return RunView(
        href=run_page(prefix, run.id),
        id=run.id,
        name=run.display_name or run.id,
        state=_state(run.state),
        labels=labels_of(run.labels, path),
        group=run.run_set,
        group_href=RunChoice(group=run.run_set).address(path),
        owner=run.creator,
        owner_href=RunChoice(owner=run.creator).address(path),
        created=run.created,
        ended=run.ended,
        seen=run.seen,
        storage_root=run.storage_root,
        is_held=run.is_held,
        note=run.note,
        note_pieces=pieces_of(run.note, lambda _start, _end: ""),
        warnings=run.warnings,
        tables=_tables(run),
        attempts=tuple(_attempt(one, now) for one in reversed(attempts)),
        more_attempts=bool(attempts) and attempts[0].number > 1,
        sessions=tuple(_card(one, part, prefix, now) for one in part.sessions),
        session_count=part.count,
        bytes=stored,
        hosts=max((one.host_count for one in part.summaries.values()), default=None),
        next=part.next,
        first=part.first,
        history=tuple(history),
        has_audit=has_audit,
        rights=rights,
        commands=_commands(run.id),
        may_merge=rights.write and sum(not one.merged_from for one in part.sessions) > 1,
    )


def _commands(run: str) -> tuple[str, str]:
    """How a session is added that lies in storage, and one that lies on somebody's own disk."""
    return (
        f"xprof-hub sessions attach {quote(run)} gs://bucket/path/to/the/profile",
        f"xprof-hub upload {quote(run)} path/to/the/profile",
    )


def _tables(run: Run) -> tuple[ConfigTable, ...]:
    return (
        *config_tables(run.configs),
        *document_table("Workload", run.workload),
        *document_table("Artifacts", run.artifacts),
    )


def _state(state: RunState) -> Badge:
    return Badge(STATE_WORDS[state], STATE_KINDS[state])


def _attempt(attempt: RunAttempt, now: datetime) -> AttemptEntry:
    end = attempt.ended or (now if attempt.state is RunState.ACTIVE else None)
    seconds = None if end is None else max(0.0, (end - attempt.started).total_seconds())
    return AttemptEntry(
        attempt.number, _state(attempt.state), attempt.started, attempt.ended, seconds
    )


def _card(session: ProfilerSession, part: SessionsPart, prefix: str, now: datetime) -> SessionCard:
    summary = part.summaries.get(session.uid)
    due = part.dues.get(session.uid)
    figures = summary.figures if summary else None
    average = figures.average_step_ms if figures else None
    words, is_short = _hosts(session, summary)
    return SessionCard(
        id=session.id,
        href=session_page(prefix, session.run, session.id),
        name=session.display_name or session.id,
        kind=KIND_WORDS[session.kind],
        created=session.started or session.created,
        badges=tuple(_badges(session, due, now)),
        hosts=words,
        is_short=is_short,
        bytes=summary.total_bytes if summary else None,
        steps=_steps(figures.step_times_ms if figures else (), average),
        average_step="" if average is None else duration(average / 1000),
        device=_device(figures.device_count, figures.device_type) if figures else "",
        due=due.moment if due else None,
    )


def _badges(session: ProfilerSession, due: Due | None, now: datetime) -> list[Badge]:
    found = []
    if session.state is SessionState.OPEN:
        found.append(Badge("Files still to come", "accent"))
    if session.merged_from:
        found.append(Badge(f"Merged of {len(session.merged_from)}", "quiet"))
    state = shown_state(session, now)
    if state in PREWARM_WORDS and state not in _UNSAID:
        found.append(Badge(*PREWARM_WORDS[state]))
    if session.is_pinned:
        found.append(Badge("Pinned", "quiet"))
    if due and any(reason.value.endswith("HELD") for reason in due.kept):
        found.append(Badge("On hold", "warn"))
    return found


def _hosts(session: ProfilerSession, summary: SessionSummary | None) -> tuple[str, bool]:
    """How many hosts there are, of how many, and whether some are missing."""
    expected = session.expected_hosts
    if summary is None:
        return "", False
    there = summary.host_count
    if expected is None or expected <= there:
        return str(there), False
    return f"{there} of {expected}", True


def _steps(values: Sequence[float], average: float | None) -> Sparkline | None:
    if not values:
        return None
    ends = f"{duration(min(values) / 1000)} to {duration(max(values) / 1000)}"
    mean = "" if average is None else f", {duration(average / 1000)} on average"
    return sparkline(values, f"Step time: {ends}{mean}")


def _device(count: int | None, kind: str) -> str:
    if not kind:
        return ""
    return f"{count} × {kind}" if count else kind  # noqa: RUF001 - the sign of multiplication
