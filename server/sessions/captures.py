"""Which sessions of a run are hosts of one capture that landed in different folders.

JAX and the ML Diagnostics SDK name a session's folder by the clock of the host that writes it, so one capture
of four hosts may become four sessions. Here is decided, from host names and times alone, which of them belong
together. Reads nothing and changes nothing; `docs/adr/011-merged-sessions.md` has the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import combinations

from loader.catalog import SessionFiles, host_of

NAMES_APART = timedelta(seconds=60)
"""How far apart the times in two folders' names may be, where profiles state no times of their own."""
LONGEST_CAPTURE = timedelta(days=1)
"""A profile that states a longer capture than this states nonsense: XProf reads at most 2 GiB."""
LOOK_APART = timedelta(hours=1)
"""Folders whose names are further apart are not of one capture, and their profiles need not be read."""

_FOLDER_TIME = re.compile(
    # JAX: 2025_01_31_12_00_00; ML Diagnostics SDK: 20250131_120000_123456
    r"(\d{4})_?(\d\d)_?(\d\d)_(\d\d)_?(\d\d)_?(\d\d)(?:_(\d{1,6}))?",
    re.ASCII,
)


class Basis(StrEnum):
    """What says that sessions belong together."""

    PROFILE = "profile"
    """The captures' own start and stop times."""
    FOLDER_NAME = "folderName"
    """The times in the folders' names, because a profile states none."""


@dataclass(frozen=True)
class Span:
    """When a capture ran, in nanoseconds since 1970; `start_ns` is before `stop_ns`."""

    start_ns: int
    stop_ns: int


@dataclass(frozen=True)
class Capture:
    """What is known of a session's part of a capture.

    Attributes:
        session: the session's id.
        hosts: its hosts, sorted.
        named: the time in its folder's name, in whatever zone the host lived, or None.
        span: from the first start to the last stop that its profiles state, or None.
    """

    session: str
    hosts: tuple[str, ...]
    named: datetime | None
    span: Span | None = None


@dataclass(frozen=True)
class MergeOffer:
    """Sessions that can be shown as one.

    Attributes:
        sessions: their ids, the earliest first.
        hosts: all hosts, sorted.
        basis: what says that they belong together.
        start: when the first host began, or None when the profiles don't say.
        end: when the last host ended, or None.
        overlap_seconds: how long all of them were captured at the same time, or None.
    """

    sessions: tuple[str, ...]
    hosts: tuple[str, ...]
    basis: Basis
    start: datetime | None
    end: datetime | None
    overlap_seconds: float | None


def folder_time(session: SessionFiles) -> datetime | None:
    """The time in the name of a session's folder; the zone is the host's and unknown, so none is set."""
    *parents, name = session.locations[0].rstrip("/").split("/")
    if host_of(name) is not None and parents:
        name = parents[-1]
    match = _FOLDER_TIME.fullmatch(name)
    if match is None:
        return None
    parts = "-".join(part or "0" for part in match.groups())
    try:
        return datetime.strptime(parts, "%Y-%m-%d-%H-%M-%S-%f")
    except ValueError:  # a 13th month: digits, but no time
        return None


def span_of(times: Iterable[tuple[int | None, int | None]]) -> Span | None:
    """From the first start to the last stop, of hosts that state both and nothing impossible."""
    known = [
        (start, stop)
        for start, stop in times
        if start is not None
        and stop is not None
        and 0 < start < stop <= start + LONGEST_CAPTURE.total_seconds() * 1e9
    ]
    if not known:
        return None
    return Span(min(start for start, _ in known), max(stop for _, stop in known))


def repeated_hosts(captures: Sequence[Capture]) -> dict[str, list[str]]:
    """Hosts that are in more than one session, with these sessions."""
    found: dict[str, list[str]] = {}
    for capture in captures:
        for host in capture.hosts:
            found.setdefault(host, []).append(capture.session)
    return {host: sessions for host, sessions in found.items() if len(sessions) > 1}


def worth_reading(captures: Sequence[Capture]) -> list[Capture]:
    """Those that may be of one capture with another one, by their hosts and their folders' names.

    The sessions of a run usually have the same hosts, hundreds of them, so names are compared last, by set.
    """
    hosts = {capture.session: frozenset(capture.hosts) for capture in captures}

    def may_be_one(first: Capture, second: Capture) -> bool:
        is_far = _are_near(first, second, LOOK_APART) is False
        return not is_far and hosts[first.session].isdisjoint(second.hosts)

    return [one for one in captures if any(may_be_one(one, other) for other in captures)]


def are_one_capture(first: Capture, second: Capture) -> bool:
    """Whether two sessions were captured at the same time; hosts are not looked at."""
    if first.span is not None and second.span is not None:
        return (
            first.span.start_ns < second.span.stop_ns and second.span.start_ns < first.span.stop_ns
        )
    return _are_near(first, second, NAMES_APART) is True


def find_offers(captures: Iterable[Capture]) -> list[MergeOffer]:
    """Groups of sessions that can be merged, the earliest first; a session is in one group at most."""
    groups: list[tuple[list[Capture], set[str]]] = []
    for capture in sorted(captures, key=_order):
        for group, taken in groups:
            if taken.isdisjoint(capture.hosts) and all(
                are_one_capture(member, capture) for member in group
            ):
                group.append(capture)
                taken.update(capture.hosts)
                break
        else:
            groups.append(([capture], set(capture.hosts)))
    return [offer_of(group) for group, _ in groups if len(group) > 1]


def strangers(captures: Sequence[Capture]) -> tuple[Capture, Capture] | None:
    """Two sessions that were not captured at the same time, or None when all were."""
    pairs = combinations(sorted(captures, key=_order), 2)
    return next((pair for pair in pairs if not are_one_capture(*pair)), None)


def offer_of(captures: Sequence[Capture]) -> MergeOffer:
    """Describes sessions that belong together."""
    spans = [capture.span for capture in captures if capture.span is not None]
    complete = len(spans) == len(captures)
    return MergeOffer(
        sessions=tuple(capture.session for capture in sorted(captures, key=_order)),
        hosts=tuple(sorted({host for capture in captures for host in capture.hosts})),
        basis=Basis.PROFILE if complete else Basis.FOLDER_NAME,
        start=_moment(min(span.start_ns for span in spans)) if spans else None,
        end=_moment(max(span.stop_ns for span in spans)) if spans else None,
        overlap_seconds=_overlap(spans) if complete else None,
    )


def _overlap(spans: Sequence[Span]) -> float:
    return (min(span.stop_ns for span in spans) - max(span.start_ns for span in spans)) / 1e9


def _are_near(first: Capture, second: Capture, apart: timedelta) -> bool | None:
    """Whether the times in two folders' names are near each other; None when a name holds none."""
    if first.named is None or second.named is None:
        return None
    return abs(first.named - second.named) <= apart


def _order(capture: Capture) -> tuple[int, datetime, str]:
    start = capture.span.start_ns if capture.span else 0
    return (start, capture.named or datetime.min, capture.session)


def _moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)
