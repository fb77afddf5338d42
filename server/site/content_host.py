"""User content on a host name of its own, so that it shares no origin with the API and the service's pages.

A profile holds text by anybody. Whatever it might do to a page one day, on the content host there is nothing
else to reach. Which host a request is for is read from its Host header alone: `X-Forwarded-Host` can be set
by whoever calls, and uvicorn does not take it over from trusted proxies either.

Sessions of people who have signed in are asked for on both hosts: `server.callers.session_passes` leads them
over.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.probes import LIVE_PATHS, READY_PATHS
from server.http.redirects import lead_to
from server.ui.policies import Policies
from server.ui.shell import LINK_UNKNOWN
from server.web_addresses import is_host_of
from server.xprof.pages import html_response

_LINKS = "/s"
_ON_BOTH = ("/_assets", *LIVE_PATHS, *READY_PATHS, "/robots.txt")
"""What the pages of both hosts are made of, and what asks after the process rather than the host."""
_SIGNED_IN = re.compile(
    r"/runs/[^/]+/sessions/[^/]+/(?:data/plugin/profile|enter)(?:/.*)?", re.DOTALL
)
"""A session's XProf for people who have signed in; the pages about it are the hub's own."""
_READING = frozenset({"GET", "HEAD"})
_KEPT_IN_PATHS = "/:@!$&'()*+,;=~"


class ContentHost:
    """Answers links on the content host only, and nothing but links there.

    Stands inside `PathPrefix` and `CollapseSlashes`, whose paths it reads.
    """

    def __init__(self, app: ASGIApp, content_url: str, path_prefix: str) -> None:
        self._app = app
        self._content_url = content_url
        self._path_prefix = path_prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands on what belongs to the host, and sends links to where they belong."""
        answer = self._answer_instead(scope) if scope["type"] == "http" else None
        await (answer or self._app)(scope, receive, send)

    def _answer_instead(self, scope: Scope) -> ASGIApp | None:
        path = scope["path"]
        if not self._content_url or _lies_under(path, _ON_BOTH) or _SIGNED_IN.fullmatch(path):
            return None
        is_content = _lies_under(path, (_LINKS,))
        headers = Headers(scope=scope)
        if is_host_of(headers.get("host", ""), self._content_url) == is_content:
            return None
        if not is_content:
            return _nothing_here(headers)
        if scope["method"] in _READING:
            return self._redirect(path, scope["query_string"])
        return PlainTextResponse("Links are answered on another host.", 404)

    def _redirect(self, path: str, query: bytes) -> ASGIApp:
        """To the same path and query on the content host; not for good, for the setting may change."""
        address = f"{self._content_url}{self._path_prefix}{quote(path, safe=_KEPT_IN_PATHS)}"
        shown_query = quote(query, safe="%?" + _KEPT_IN_PATHS)
        target = f"{address}?{shown_query}" if query else address
        return lead_to(target)


def _nothing_here(headers: Headers) -> ASGIApp:
    if "text/html" in headers.get("accept", ""):
        return html_response(Policies(), LINK_UNKNOWN.render(), "words", 404)
    return PlainTextResponse("Only links are answered on this host.", 404)


def _lies_under(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)
