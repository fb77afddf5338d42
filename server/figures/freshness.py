"""When a session's figures are as good as they get, and when it is time to try again. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import IntEnum

from server.registry.summaries import SessionSummary

_AGAIN_LATER = timedelta(minutes=5)
_AGAIN_SOON = timedelta(seconds=15)
_FINAL_LASTS = timedelta(days=1)


class Wish(IntEnum):
    """How much somebody wants figures; a greater one includes the smaller ones."""

    KEPT = 0
    """Only what is in the result cache already."""
    MADE = 1
    """Workers are asked, after all people, if sessions are converted in advance at all."""
    NEEDED = 2
    """Somebody waits for them."""


class Standing(IntEnum):
    """How far the figures are."""

    PENDING = 0
    READY = 1
    FAILED = 2
    """These files give no figures, or not without a change of settings; `problem` says why."""


def standing_of(summary: SessionSummary | None, digest: str) -> Standing:
    """How far the figures of these files are; those of an older engine count until they are made anew."""
    if summary is None or summary.digest != digest or not summary.state.engine:
        return Standing.PENDING
    return Standing.FAILED if summary.figures is None else Standing.READY


def has_work(
    summary: SessionSummary | None, digest: str, engine: str, wish: Wish, now: datetime
) -> bool:
    """Whether to look for figures of these files.

    Args:
        summary: what is known.
        digest: of the files as they are.
        engine: version of XProf that would be asked.
        wish: how much they are wanted.
        now: UTC.
    """
    if summary is None or summary.digest != digest:
        return True
    state, age = summary.state, now - summary.looked
    if state.engine != engine:
        return not state.problem or age > (_AGAIN_SOON if wish is Wish.NEEDED else _AGAIN_LATER)
    return bool(state.problem) and age > (_AGAIN_LATER if wish is Wish.NEEDED else _FINAL_LASTS)
