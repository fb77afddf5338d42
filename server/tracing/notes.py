"""What is noted of one request while it is answered: its route, and where its time went.

The notes follow the request from thread to thread, as its trace does. They hold no names, only numbers and
words of our own, for they go out in `Server-Timing` (https://www.w3.org/TR/server-timing/).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

TimingName = Literal["database", "listing", "cache", "worker"]


class RequestNotes:
    """Notes of one request; threads that work for it may write at once."""

    def __init__(self) -> None:
        self.route = "none"
        self._seconds: dict[TimingName, float] = {}
        self._words: dict[TimingName, str] = {}

    def add(self, name: TimingName, seconds: float) -> None:
        """So much more time went there."""
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def describe(self, name: TimingName, word: str) -> None:
        """One of our own words for what came of it."""
        self._words[name] = word

    def server_timing(self) -> str:
        """The header's value; empty when nothing took time."""
        return ", ".join(
            f"{name}{f';desc={self._words[name]}' if name in self._words else ''};dur={seconds * 1000:.1f}"
            for name, seconds in list(self._seconds.items())
        )


_CURRENT: ContextVar[RequestNotes | None] = ContextVar("xprof_hub_notes", default=None)


def begin_notes() -> RequestNotes:
    """New notes, for all that this task does from now on."""
    notes = RequestNotes()
    _CURRENT.set(notes)
    return notes


def current_notes() -> RequestNotes | None:
    """The notes of the request that this is done for; None outside of any."""
    return _CURRENT.get()


@contextmanager
def timed(name: TimingName) -> Iterator[None]:
    """Notes how long the context took, if it is part of a request."""
    notes = _CURRENT.get()
    if notes is None:
        yield
        return
    started = time.perf_counter()
    try:
        yield
    finally:
        notes.add(name, time.perf_counter() - started)
