"""What is answered to those whom a link does not let in: a form, or words that say why.

The same for every target, and nothing of it. A browser that opens a page is led on; what a page asks for in
the background gets an error, which the page shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fastapi import FastAPI, Request, Response

from server.http.error_table import FORBIDDEN, NOT_FOUND, UNAUTHENTICATED, ErrorAnswer
from server.http.errors import error_response
from server.http.redirects import lead_to
from server.limits.service import UNKNOWN_LINKS, by_address
from server.links.gate import LinkEnd, LinkEndedError, OpeningNeededError, PasswordNeededError
from server.services import get_services
from server.ui.link_pages import (
    LINK_FORBIDDEN,
    LINK_USED_UP,
    OPENING_NEEDED,
    PASSWORD_NEEDED,
)
from server.ui.shell import LINK_EXPIRED, LINK_UNKNOWN, Message
from server.xprof.pages import html_response

_ENDED = ErrorAnswer(410, "GONE")
_ANSWERS: Mapping[LinkEnd, tuple[Message, ErrorAnswer]] = MappingProxyType(
    {
        LinkEnd.UNKNOWN: (LINK_UNKNOWN, NOT_FOUND),
        LinkEnd.EXPIRED: (LINK_EXPIRED, _ENDED),
        LinkEnd.REVOKED: (LINK_EXPIRED, _ENDED),
        LinkEnd.FORBIDDEN: (LINK_FORBIDDEN, FORBIDDEN),
        LinkEnd.USED_UP: (LINK_USED_UP, _ENDED),
    }
)
_READING = frozenset({"GET", "HEAD"})
_HTML = "text/html"


def install_link_answers(app: FastAPI) -> None:
    """Lets an app answer the exceptions of `server.links.gate`."""
    app.add_exception_handler(LinkEndedError, _on_link_ended)
    app.add_exception_handler(PasswordNeededError, _on_password_needed)
    app.add_exception_handler(OpeningNeededError, _on_opening_needed)


def _on_link_ended(request: Request, error: Exception) -> Response:
    if not isinstance(error, LinkEndedError):
        raise error
    if error.end is LinkEnd.UNKNOWN:
        get_services(request).limits.traffic.count(by_address(UNKNOWN_LINKS, request))
    return _words(request, *_ANSWERS[error.end])


def _on_password_needed(request: Request, error: Exception) -> Response:
    if not isinstance(error, PasswordNeededError):
        raise error
    if request.method in _READING and _HTML in request.headers.get("accept", ""):
        return lead_to(error.address)
    return _words(request, PASSWORD_NEEDED, UNAUTHENTICATED)


def _on_opening_needed(request: Request, error: Exception) -> Response:
    if not isinstance(error, OpeningNeededError):
        raise error
    return _words(request, OPENING_NEEDED, FORBIDDEN)


def _words(request: Request, message: Message, answer: ErrorAnswer) -> Response:
    if _HTML in request.headers.get("accept", ""):
        policies = get_services(request).policies
        return html_response(policies, message.render(), "message", answer.http)
    return error_response(answer, f"{message.title}. {message.text} {message.next_step}")
