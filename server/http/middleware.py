"""What happens to every request: path clean-up, security headers, one log line, metrics.

Plain ASGI, so that streamed answers are never gathered in memory.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auth.tokens import redact
from server.http.error_table import PASSING, SOON_SECONDS
from server.metrics.process import Metrics
from server.metrics.route_kinds import RouteKind, kind_of
from server.tracing.notes import current_notes
from server.ui.policies import DATA_POLICY

logger = logging.getLogger("xprof_hub.access")

_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "X-Robots-Tag": "noindex, nofollow",
    # What may be kept says so itself: so whatever shows something of a link that has ended asks before.
    "Cache-Control": "no-store",
    "Content-Security-Policy": DATA_POLICY,
}
_TIMED_KINDS = frozenset({RouteKind.PAGE, RouteKind.TOOL_DATA})
_HSTS = {"Strict-Transport-Security": "max-age=31536000"}
_SLASHES = re.compile(r"//+")


class CollapseSlashes:
    """Treats `//s/TOKEN//data/...`, as XProf's graph viewer writes it, like `/s/TOKEN/data/...`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Changes the path only; the query stays as it is."""
        if scope["type"] == "http" and "//" in scope["path"]:
            raw = scope.get("raw_path")
            scope = {
                **scope,
                "path": _SLASHES.sub("/", scope["path"]),
                "raw_path": re.sub(rb"//+", b"/", raw) if raw else raw,
            }
        await self._app(scope, receive, send)


class PathPrefix:
    """Takes the path prefix off, so that routes know nothing of it; what lies outside it is not found.

    Paths in `always` are found outside it too, those in `private` outside only, because a reverse proxy
    publishes the prefix with everything below.
    """

    def __init__(
        self, app: ASGIApp, prefix: str, always: Iterable[str], private: Iterable[str]
    ) -> None:
        self._app = app
        self._prefix = prefix
        self._always = frozenset(always)
        self._private = frozenset(private)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on the shortened path."""
        if not self._prefix or scope["type"] != "http" or scope["path"] in self._always:
            await self._app(scope, receive, send)
            return
        path = _SLASHES.sub("/", scope["path"])
        shortened = path[len(self._prefix) :] or "/"
        is_inside = path == self._prefix or path.startswith(f"{self._prefix}/")
        # The pattern of a route takes a line break at the end of a path, too.
        if not is_inside or shortened.removesuffix("\n") in self._private:
            answer = PlainTextResponse(f"XProf Hub is served under {self._prefix}/.", 404)
            await answer(scope, receive, send)
            return
        await self._app({**scope, "path": shortened, "root_path": ""}, receive, send)


def security_headers(is_tls: bool) -> dict[str, str]:
    """The headers of an answer that brings none of its own.

    Args:
        is_tls: whether browsers shall insist on TLS for a year.
    """
    return {**_SECURITY_HEADERS, **(_HSTS if is_tls else {})}


class SecurityHeaders:
    """Adds the headers that every answer carries, without replacing a route's own.

    So no 429 and no 503 leaves a caller without a time to come back, whoever has made it.
    """

    def __init__(self, app: ASGIApp, is_tls: bool) -> None:
        self._app = app
        self._headers = security_headers(is_tls)
        # What a browser has stored takes over the headers of "not modified", and would lose its own.
        self._unchanged = {
            name: value
            for name, value in self._headers.items()
            if name not in {"Content-Security-Policy", "Cache-Control"}
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Adds them to the start of the answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                own = self._unchanged if message["status"] == 304 else self._headers
                for name, value in own.items():
                    headers.setdefault(name, value)
                if message["status"] in PASSING:
                    headers.setdefault("Retry-After", str(SOON_SECONDS))
            await send(message)

        await self._app(scope, receive, send_with_headers)


class Observe:
    """Counts requests and writes one line for each, with the route and without query or token.

    Of the routes in `quiet` (by their templates) only failures get a line. Pages and tools' data say in
    `Server-Timing` where their time went.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, quiet: Iterable[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._quiet = frozenset(quiet)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Measures from the first byte in to the last byte out."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        start = time.monotonic()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._note_begin(scope, message, time.monotonic() - start)
            await send(message)

        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, send_and_note)
        finally:
            self._metrics.in_flight.dec()
            self._note(scope, status, time.monotonic() - start)

    def _note_begin(self, scope: Scope, message: Message, seconds: float) -> None:
        headers = MutableHeaders(scope=message)
        kind = kind_of(_route_of(scope), headers.get("content-type", ""))
        self._metrics.first_byte.labels(kind.value).observe(seconds)
        notes = current_notes()
        if notes is not None and kind in _TIMED_KINDS and message["status"] < 400:
            timing = notes.server_timing()
            if timing:
                headers["Server-Timing"] = timing

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = _route_of(scope)
        notes = current_notes()
        if notes is not None:
            notes.route = route
        self._metrics.requests.labels(route, str(status)).inc()
        if route in self._quiet and status < 400:
            return
        logger.info(
            "request",
            extra={
                "method": scope["method"],
                "path": redact(scope["path"]),
                "status": status,
                "milliseconds": round(seconds * 1000),
            },
        )


def _route_of(scope: Scope) -> str:
    """The template of the route that answers, `none` where there is none."""
    route = getattr(scope.get("route"), "path", None)
    return route if isinstance(route, str) else "none"
