"""Turns floods away before anything is looked up: by network address, and by link.

What jobs send is never turned away: their client ends the job at any refusal, and ten thousand hosts of one
job come from one address. Callers of the API show a token; what is counted of them is only what they read.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from server.http.coming_back import busy_page, let_come_back, seconds_of_page
from server.http.error_table import TOO_MANY
from server.http.errors import error_response
from server.http.probes import PROBE_PATHS
from server.limits.service import UNKNOWN_LINKS, Limits
from server.limits.windows import Counted, network_of
from server.ui.messages import TOO_OFTEN
from server.ui.policies import Policies
from server.xprof.pages import html_response

LINKS = "/s/"
_EXEMPT = ("/_assets/", "/ingest/", "/v1alpha/")
_EXEMPT_WHOLE = frozenset({*PROBE_PATHS, "/robots.txt"})
_API = "/v1/"
_READING = frozenset({"GET", "HEAD"})


class LimitTraffic:
    """Answers 429 to who asks too often.

    Stands inside `PathPrefix` and `CollapseSlashes`, whose paths it reads, and inside `Observe`.
    """

    def __init__(self, app: ASGIApp, limits: Limits, policies: Policies) -> None:
        self._app = app
        self._limits = limits
        self._policies = policies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts the request, and hands it on or turns it away."""
        found = self._over(scope) if scope["type"] == "http" and not _is_exempt(scope) else None
        if found is None:
            await self._app(scope, receive, send)
            return
        limit, seconds = found
        self._limits.refused(limit)
        await self._refusal(scope, limit, seconds)(scope, receive, send)

    def _over(self, scope: Scope) -> tuple[str, int] | None:
        """The limit that this request goes over, with the seconds to wait; None where it may pass."""
        limits, network = self._limits, _network(scope)
        asked = [(limits.of_address, limits.traffic.count(Counted(limits.of_address, network)))]
        token = _token(scope["path"])
        if token:
            asked += [
                (limits.of_link, limits.traffic.count(Counted(limits.of_link, token))),
                (UNKNOWN_LINKS, limits.traffic.seconds_to_wait(Counted(UNKNOWN_LINKS, network))),
            ]
        return next(((limit.name, seconds) for limit, seconds in asked if seconds), None)

    def _refusal(self, scope: Scope, limit: str, seconds: int) -> ASGIApp:
        is_of_link = limit == self._limits.of_link.name
        text = "This link is asked too often." if is_of_link else _FROM_NETWORK
        return too_many(self._policies, scope, text, seconds)


_FROM_NETWORK = "Too many requests came from your network."


def too_many(policies: Policies, scope: Scope, text: str, seconds: int) -> ASGIApp:
    """The answer to who asks too often: a page for people, JSON for everybody else.

    Args:
        policies: of the pages.
        scope: of the request.
        text: a sentence: what there was too much of.
        seconds: until it may be tried again.
    """
    if "text/html" not in Headers(scope=scope).get("accept", ""):
        words = too_many_words(text, seconds)
        return error_response(TOO_MANY, words, headers={"Retry-After": str(seconds)})
    again = seconds_of_page(seconds)
    page = busy_page(scope["method"], TOO_OFTEN, text, again).render()
    response = html_response(policies, page, "message", TOO_MANY.http)
    let_come_back(scope["method"], response, seconds, again)
    return response


def too_many_words(text: str, seconds: int) -> str:
    """A sentence that says what there was too much of, and one that says when to go on."""
    wait = f"{seconds} seconds" if seconds < 120 else f"{-(-seconds // 60)} minutes"
    return f"{text} Try again in {wait}."


def _is_exempt(scope: Scope) -> bool:
    path = scope["path"]
    if path in _EXEMPT_WHOLE or path.startswith(_EXEMPT):
        return True
    return path.startswith(_API) and scope["method"] not in _READING


def _network(scope: Scope) -> str:
    client = scope.get("client")
    return network_of(client[0] if client else "")


def _token(path: str) -> str:
    """The link that a path is under; empty for all others."""
    return path.removeprefix(LINKS).partition("/")[0] if path.startswith(LINKS) else ""
