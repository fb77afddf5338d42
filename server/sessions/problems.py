"""How many hosts a session should have, and the sentence that says which are missing or can't be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loader.errors import ErrorCode
from server.sessions.schemas import HostHealth

MISSING_HOSTS = "missing_hosts"
"""The reason of a session that has fewer hosts than took part."""
_MOST_NAMED = 20


@dataclass(frozen=True)
class HostCount:
    """What is known of a session's hosts.

    Attributes:
        expected: how many took part, or None when nobody said.
        found: hosts whose files are there, sorted.
        missing: names of hosts that profiles state and that are not there, sorted; seldom known.
    """

    expected: int | None
    found: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostProblem:
    """Why a session is not whole: a reason for programs and a sentence for people."""

    reason: str
    message: str


def count_hosts(
    registered: int | None, found: tuple[str, ...], rows: Sequence[HostHealth] = ()
) -> HostCount:
    """Puts together what the session's maker said and what its profiles state.

    A profile that lists several hosts states all that took part, if its own host is among them; else it may
    hold the planes of all these hosts itself. Nearly every profile lists its own host only.

    Args:
        registered: the count that the session's maker gave.
        found: hosts whose files are there.
        rows: what the inspection says of each, as far as it is known.
    """
    stated = {
        name
        for row in rows
        if len(row.hostnames) > 1 and row.host in row.hostnames
        for name in row.hostnames
    }
    counts = [registered or 0, len(stated | set(found)) if stated else 0]
    return HostCount(max(counts) or None, found, tuple(sorted(stated - set(found))))


def problem_of(count: HostCount, rows: Sequence[HostHealth] = ()) -> HostProblem | None:
    """What is wrong with a session's hosts, or None.

    The reason is `missing_hosts` when some are not there, else that of a host that can't be shown; one that
    passes by itself goes first.
    """
    damaged = sorted(
        (row for row in rows if not row.usable),
        key=lambda row: (row.reason != ErrorCode.INCOMPLETE.value, row.host),
    )
    reasons = [row.reason or ErrorCode.INTERNAL.value for row in damaged]
    sentences = []
    if count.expected is not None and len(count.found) < count.expected:
        reasons.insert(0, MISSING_HOSTS)
        sentences.append(_missing_sentence(count, count.expected))
    if damaged:
        left_out = "; ".join(f"{row.host}: {row.message}" for row in damaged[:_MOST_NAMED])
        sentences.append(
            f"{len(rows) - len(damaged)} of {len(rows)} files can be shown. {left_out}"
        )
    return HostProblem(reasons[0], " ".join(sentences)) if reasons else None


def _missing_sentence(count: HostCount, expected: int) -> str:
    named = ", ".join(count.missing[:_MOST_NAMED])
    missing = f" Missing: {named}." if named else ""
    return (
        f"Only {len(count.found)} of {expected} hosts are here so far.{missing} "
        "The others may still be uploading; if the job has ended, look at its logs."
    )
