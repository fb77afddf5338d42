"""The page about a session: what was captured, how it went, how long it is kept. Asks the registry only.

What lies in storage is `server.session_pages.hosts`, which the page fetches afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from auth.identity import Principal
from auth.policy import Action, may
from server.lifecycle.due import Due, Kept, when_due
from server.names import session_name
from server.registry.errors import RegistryError
from server.registry.keeping import Keeping, keeping_of
from server.registry.prewarm import UNDER_WAY
from server.registry.records import ProfilerSession, SessionState
from server.registry.runs import get_run
from server.registry.summaries import SessionSummary, get_summary
from server.services import Services
from server.session_pages.addresses import SessionAddresses, addresses_of
from server.session_pages.figures import HostPace, Tile, paces_of, step_curve, tiles_of
from server.session_pages.hosts import count_text
from server.sessions.words import KIND_WORDS, PREWARM_WORDS
from server.ui.sparkline import Sparkline
from server.xprof.prewarm import shown_state

_KEPT: Mapping[Kept, str] = MappingProxyType(
    {
        Kept.HELD: "a hold on it",
        Kept.RUN_HELD: "a hold on its run",
        Kept.GROUP_HELD: "a hold on its run group",
        Kept.PINNED: "a pin",
    }
)


@dataclass(frozen=True)
class Rights:
    """What the reader may do on the page."""

    change: bool
    share: bool
    hold: bool
    download: bool
    comment: bool


@dataclass(frozen=True)
class FiguresPart:
    """What XProf says of the session, as far as it is known.

    Attributes:
        tiles: single figures.
        paces: hosts from the slowest on.
        stragglers: how many of them keep the others waiting.
        curve: the steps' times in order; None where there are none.
        gaps: what could not be had, a sentence each.
        problem: why there are none, in words.
        is_coming: whether they are being made, so that asking again helps.
    """

    tiles: tuple[Tile, ...] = ()
    paces: tuple[HostPace, ...] = ()
    stragglers: int = 0
    curve: Sparkline | None = None
    gaps: tuple[str, ...] = ()
    problem: str = ""
    is_coming: bool = False


@dataclass(frozen=True)
class KeepingPart:
    """How long the session is kept.

    Attributes:
        words: until when and why, in a sentence.
        expires: day of its own expiry, `2026-12-31`; empty for none.
        is_pinned: whether it is pinned.
        is_held: whether there is a hold on the session itself.
        is_kept: whether it can't be deleted at all: there is a hold on it, its run or its group.
        due: when it is deleted by itself, or None.
    """

    words: str
    expires: str
    is_pinned: bool
    is_held: bool
    is_kept: bool
    due: datetime | None


@dataclass(frozen=True)
class SessionPage:
    """Everything of the page but files and comments.

    Attributes:
        id: of the session.
        title: its name for people.
        run: of the run: its name for people.
        addresses: of the session's pages.
        is_open: whether hosts may still come.
        prewarm: how far converting in advance is, and the kind of badge; empty when nobody thought of it.
        can_cancel: whether that is under way.
        hosts: `3 of 4 hosts`, as far as is known; empty when nothing is.
        total_bytes: size of all profiles, or None.
        facts: what was captured: words and values.
        created: when it was attached.
        started: when the capture began, or None.
        locations: where its files lie.
        origins: the sessions that it was merged of: names and addresses.
        figures: what XProf says.
        keeping: how long it is kept.
        rights: what the reader may do.
    """

    id: str
    title: str
    run: str
    addresses: SessionAddresses
    is_open: bool
    prewarm: tuple[str, str]
    can_cancel: bool
    hosts: str
    total_bytes: int | None
    facts: tuple[tuple[str, str], ...]
    created: datetime
    started: datetime | None
    locations: tuple[str, ...]
    origins: tuple[tuple[str, str], ...]
    figures: FiguresPart
    keeping: KeepingPart
    rights: Rights


def session_page(services: Services, record: ProfilerSession, principal: Principal) -> SessionPage:
    """The page for a reader; asks the database.

    Args:
        services: where to look.
        record: the session.
        principal: who reads.
    """
    summary = get_summary(services.database, record.uid)
    now = datetime.now(UTC)
    state = shown_state(record, now)
    return SessionPage(
        id=record.id,
        title=record.display_name or record.id,
        run=_run_title(services, record.run),
        addresses=addresses_of(services, record.run, record.id),
        is_open=record.state is SessionState.OPEN,
        prewarm=PREWARM_WORDS.get(state, ("", "")),
        can_cancel=state in UNDER_WAY,
        hosts=_known_hosts(record, summary),
        total_bytes=summary.total_bytes if summary else None,
        facts=_facts(record),
        created=record.created,
        started=record.started,
        locations=record.locations,
        origins=tuple(
            (origin.id, addresses_of(services, record.run, origin.id).page)
            for origin in record.merged_from
        ),
        figures=figures_part(summary),
        keeping=keeping_part(keeping_of(services.database, [record.uid]).get(record.uid), record),
        rights=_rights(principal, session_name(record.run, record.id)),
    )


def figures_part(summary: SessionSummary | None) -> FiguresPart:
    """The part about figures; pure."""
    if summary is None:
        return FiguresPart(is_coming=True)
    figures = summary.figures
    if figures is None:
        # An engine that was asked has said all that it can.
        is_coming = not summary.state.engine
        return FiguresPart(problem=summary.state.problem, is_coming=is_coming)
    paces = paces_of(figures.hosts)
    return FiguresPart(
        tiles=tiles_of(figures),
        paces=paces,
        stragglers=sum(pace.is_straggler for pace in paces),
        curve=step_curve(figures),
        gaps=figures.gaps,
    )


def keeping_part(keeping: Keeping | None, record: ProfilerSession) -> KeepingPart:
    """The part about how long it is kept; pure."""
    due = when_due(keeping) if keeping else Due(None)
    return KeepingPart(
        words=_kept_in_words(due),
        expires=f"{record.expires:%Y-%m-%d}" if record.expires else "",
        is_pinned=record.is_pinned,
        is_held=record.is_held,
        is_kept=bool(set(due.kept) - {Kept.PINNED}),
        due=due.moment,
    )


def _kept_in_words(due: Due) -> str:
    if due.kept:
        reasons = " and ".join(_KEPT[reason] for reason in due.kept)
        return f"Kept until somebody deletes it, for there is {reasons}."
    if due.moment is None:
        return "Kept until somebody deletes it."
    return "Its run group deletes it on" if due.is_of_group else "Deleted by itself on"


def _facts(record: ProfilerSession) -> tuple[tuple[str, str], ...]:
    duration = record.details.get("duration")
    found = [
        ("Id", record.id if record.display_name not in {"", record.id} else ""),
        ("How it came", KIND_WORDS[record.kind]),
        ("Attempt", "" if record.attempt is None else str(record.attempt)),
        ("Attached by", record.creator),
        ("Duration", duration if isinstance(duration, str) else ""),
        ("Expected hosts", "" if record.expected_hosts is None else str(record.expected_hosts)),
    ]
    return tuple((label, value) for label, value in found if value)


def _known_hosts(record: ProfilerSession, summary: SessionSummary | None) -> str:
    if summary is None:
        return ""
    return count_text(summary.host_count, max(record.expected_hosts or 0, summary.host_count))


def _run_title(services: Services, run: str) -> str:
    try:
        return get_run(services.database, run).display_name or run
    except RegistryError:  # deleted in this moment
        return run


def _rights(principal: Principal, name: str) -> Rights:
    return Rights(
        change=may(principal, Action.SESSIONS_WRITE, name),
        share=may(principal, Action.LINKS_CREATE, name),
        hold=may(principal, Action.HOLDS_MANAGE, name),
        download=may(principal, Action.FILES_READ, name),
        comment=may(principal, Action.COMMENTS_WRITE, name),
    )
