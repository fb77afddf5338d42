"""Spans of requests and of the parts of conversions, as the rest of the server knows them.

Nothing here loads OpenTelemetry: `server.tracing.otlp` does, and only where a collector is set.
"""

from __future__ import annotations

from typing import Literal, Protocol

from loader.observing import PartRecord
from loader.traces import Trace
from server.settings import Settings
from server.tracing.header import next_trace

Process = Literal["front", "worker"]


class RequestSpan(Protocol):
    """A request that is being answered.

    Attributes:
        trace: its place in the trace.
    """

    @property
    def trace(self) -> Trace:
        """Its place in the trace."""

    def end(self, method: str, route: str, status: int) -> None:
        """The answer has gone out; `route` is the template, never the path."""


class Spans(Protocol):
    """Makes spans. Thread-safe; nothing of it waits for a collector or raises."""

    def begin(self, parent: Trace | None) -> RequestSpan:
        """A request has come, from a caller with this span if any."""

    def part(self, record: PartRecord) -> None:
        """A part of a conversion has ended, in the trace of this thread."""

    def close(self) -> None:
        """Sends what is left, for a moment; blocks."""


class _Unsent:
    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    def end(self, method: str, route: str, status: int) -> None:
        """Nobody is told."""


class NoSpans:
    """Trace ids without spans: callers' ids are kept, others made."""

    def begin(self, parent: Trace | None) -> RequestSpan:
        """See `Spans`."""
        return _Unsent(next_trace(parent))

    def part(self, record: PartRecord) -> None:
        """See `Spans`."""

    def close(self) -> None:
        """See `Spans`."""


def open_spans(settings: Settings, process: Process) -> Spans:
    """What the settings ask for.

    Raises:
        RuntimeError: OpenTelemetry is needed and not installed.
        ValueError: the collector's address can't be used.
    """
    if not settings.otlp_endpoint:
        return NoSpans()
    from server.tracing.otlp import open_otlp_spans

    return open_otlp_spans(settings.otlp_endpoint, settings.trace_fraction, process)
