"""Work that no request waits for: it has a trace of its own, so that its log lines can be told apart."""

from __future__ import annotations

from loader.traces import enter_trace
from server.tracing.header import next_trace
from server.tracing.notes import begin_notes


def begin_background_trace() -> None:
    """What this task does from now on, and what it starts, belongs together and to no request."""
    enter_trace(next_trace())
    begin_notes()
