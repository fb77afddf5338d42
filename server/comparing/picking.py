"""What the Compare page shows while a session is still to be chosen. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from server.comparing import words
from server.comparing.addresses import Addresses
from server.comparing.sides import SessionRef
from server.registry.records import ProfilerSession
from server.registry.summaries import SessionSummary


@dataclass(frozen=True)
class Choice:
    """A session that can be chosen.

    Attributes:
        run: name of its run for people.
        session: its own.
        created: when it came here.
        step: its average step time, or empty.
        devices: their type, or empty.
        href: the page with it chosen.
    """

    run: str
    session: str
    created: datetime
    step: str
    devices: str
    href: str


@dataclass(frozen=True)
class PickView:
    """The page on which sessions are chosen.

    Attributes:
        place: the side that is being chosen: `left` or `right`.
        chosen: name of the other side's session; empty when none is.
        chosen_href: its page.
        clear_href: the page with nothing chosen.
        left: what the form sends along as `left`; may be empty.
        right: likewise.
        words: what is looked for.
        choices: sessions.
        is_cut: whether there are more.
        problem: what was wrong with the address; may be empty.
    """

    place: str
    chosen: str
    chosen_href: str
    clear_href: str
    left: str
    right: str
    words: str
    choices: tuple[Choice, ...]
    is_cut: bool
    problem: str = ""


def choices_of(
    found: Sequence[tuple[ProfilerSession, str]],
    summaries: Mapping[str, SessionSummary],
    addresses: Addresses,
    left: SessionRef | None,
    right: SessionRef | None,
) -> tuple[Choice, ...]:
    """The sessions that can be chosen for the side that is missing, the left one first."""
    choices = []
    for session, run_name in found:
        ref = SessionRef(session.run, session.id)
        if ref in (left, right):
            continue
        summary = summaries.get(session.uid)
        figures = summary.figures if summary else None
        step = figures.average_step_ms if figures else None
        href = addresses.compare(left, ref) if left else addresses.compare(ref, right)
        choices.append(
            Choice(
                run=run_name,
                session=session.display_name or session.id,
                created=session.created,
                step="" if step is None else words.milliseconds(step, step),
                devices=figures.device_type if figures else "",
                href=href,
            )
        )
    return tuple(choices)
