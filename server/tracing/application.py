"""An application whose every answer belongs to a trace and says so, answers to faults of ours included."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loader.traces import enter_trace
from server.tracing.header import HEADER, read_traceparent
from server.tracing.notes import begin_notes
from server.tracing.spans import NoSpans, Spans

REQUEST_ID_HEADER = b"x-request-id"
_TRACEPARENT = HEADER.encode()


class Traced:
    """Puts each request into its caller's trace, or a new one, and names it in the answer.

    It stays entered afterwards, in a task that ends with the request, so that what the server logs of a fault
    has it too.
    """

    def __init__(self, app: ASGIApp, spans: Spans) -> None:
        self._app = app
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wraps one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = [value.decode("latin-1") for name, value in scope["headers"] if name == _TRACEPARENT]
        span = self._spans.begin(read_traceparent(sent))
        enter_trace(span.trace)
        notes = begin_notes()
        header = (REQUEST_ID_HEADER, span.trace.trace_id.encode())
        status = 500

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        try:
            await self._app(scope, receive, send_named)
        finally:
            span.end(scope["method"], notes.route, status)


OWN_TELEMETRY_OFF: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}
"""FastAPI would send paths, which hold tokens, to whatever collector the environment names."""


class TracedApp(FastAPI):
    """A FastAPI application with `Traced` around everything, where middleware that is added can't be.

    Attributes:
        spans: makes them; to be set before the first request.
    """

    spans: Spans = NoSpans()

    def build_middleware_stack(self) -> ASGIApp:
        """See Starlette."""
        return Traced(super().build_middleware_stack(), self.spans)
