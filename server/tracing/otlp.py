"""Spans sent to a collector by OpenTelemetry over OTLP/HTTP; loaded only where a collector is set.

Names and attributes are words from fixed tables and numbers: no path, query, name or token. What the
collector does, or fails to do, is never noticed by a request: spans wait in a bounded queue, from which a
thread sends some now and then, and what does not fit is dropped.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from urllib.parse import urlsplit

from loader.budget import Budget
from loader.observing import OK, PartRecord
from loader.traces import Trace, current_trace
from server.tracing.spans import Process, RequestSpan, Spans

try:
    from opentelemetry.context import Context
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    from opentelemetry.trace import (
        NonRecordingSpan,
        Span,
        SpanContext,
        SpanKind,
        Status,
        StatusCode,
        TraceFlags,
        Tracer,
        set_span_in_context,
    )
except ImportError as problem:
    raise RuntimeError(
        "XPROF_HUB_OTLP_ENDPOINT is set and OpenTelemetry is not installed. Install it with: "
        "pip install 'xprof-hub[otel]', or leave the setting empty."
    ) from problem

_TRACES_PATH = "/v1/traces"
_SEND_SECONDS = 5
_CLOSE_SECONDS = 2.0
"""How long the end of a process may wait for spans to be sent."""
_WISHES_EACH_SECOND, _WISHES_AT_ONCE = 5.0, 50.0
"""Requests sent because their callers ask for it: anybody can, and would crowd out the spans of others."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
logger = logging.getLogger(__name__)


def open_otlp_spans(endpoint: str, fraction: float, process: Process) -> Spans:
    """Begins to send; nothing is asked of the collector yet.

    Args:
        endpoint: the collector's address, without the path for traces.
        fraction: share of requests without a caller's decision that are sent.
        process: which part of the hub this is.

    Raises:
        ValueError: the address is no URL.
    """
    address = urlsplit(endpoint)
    if address.scheme not in {"http", "https"} or not address.hostname:
        raise ValueError(
            "XPROF_HUB_OTLP_ENDPOINT must be the address of a collector, such as http://collector:4318."
        )
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(fraction)),
        resource=Resource.create({SERVICE_NAME: f"xprof-hub-{process}"}),
        shutdown_on_exit=False,
    )
    exporter = OTLPSpanExporter(endpoint.rstrip("/") + _TRACES_PATH, timeout=_SEND_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    # Workers' callers are front ends, which have decided by then.
    wishes = Budget(0, _WISHES_EACH_SECOND, _WISHES_AT_ONCE) if process == "front" else None
    return OtlpSpans(provider, wishes)


def _context_of(trace: Trace, *, is_remote: bool) -> Context:
    flags = TraceFlags(TraceFlags.SAMPLED if trace.is_sampled else TraceFlags.DEFAULT)
    parent = SpanContext(int(trace.trace_id, 16), int(trace.span_id, 16), is_remote, flags)
    # Never the thread's own context: `loader.traces` knows where we are.
    return set_span_in_context(NonRecordingSpan(parent), Context())


class OtlpSpans:
    """`Spans` of OpenTelemetry.

    Args:
        provider: makes and sends them.
        wishes: how many callers may have their requests sent; None: all who ask for it.
    """

    def __init__(self, provider: TracerProvider, wishes: Budget | None) -> None:
        self._provider = provider
        self._wishes = wishes
        self._tracer: Tracer = provider.get_tracer("xprof-hub")

    def begin(self, parent: Trace | None) -> RequestSpan:
        """See `Spans`."""
        if parent is not None and parent.is_sampled and self._wishes and not self._wishes.spend():
            parent = replace(parent, is_sampled=False)
        context = Context() if parent is None else _context_of(parent, is_remote=True)
        return _Request(self._tracer.start_span("request", context, SpanKind.SERVER))

    def part(self, record: PartRecord) -> None:
        """See `Spans`."""
        trace = current_trace()
        if trace is None or not trace.is_sampled:
            return
        span = self._tracer.start_span(
            f"conversion {record.part.value}",
            _context_of(trace, is_remote=False),
            attributes={
                "xprof_hub.tool": record.tool,
                "xprof_hub.phase": record.part.value,
                "xprof_hub.bytes": record.size,
                "xprof_hub.outcome": record.outcome,
            },
            start_time=record.started_ns,
        )
        if record.outcome != OK:
            span.set_status(Status(StatusCode.ERROR))
        span.end(record.started_ns + round(record.seconds * 1e9))

    def close(self) -> None:
        """See `Spans`. A collector that does not answer is given up."""
        sending = threading.Thread(target=self._provider.shutdown, name="spans", daemon=True)
        sending.start()
        sending.join(_CLOSE_SECONDS)
        if sending.is_alive():
            logger.warning("the collector of spans does not answer; the last ones are lost")


class _Request:
    def __init__(self, span: Span) -> None:
        self._span = span
        context = span.get_span_context()
        self.trace = Trace(
            f"{context.trace_id:032x}", f"{context.span_id:016x}", context.trace_flags.sampled
        )

    def end(self, method: str, route: str, status: int) -> None:
        """See `RequestSpan`."""
        if self._span.is_recording():
            known = method if method in _METHODS else "_OTHER"
            self._span.update_name(f"{known} {route}")
            self._span.set_attributes(
                {
                    "http.request.method": known,
                    "http.route": route,
                    "http.response.status_code": status,
                }
            )
            if status >= 500:
                self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()
