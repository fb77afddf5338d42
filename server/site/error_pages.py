"""Errors as pages, for browsers that open one: in the frame for who has signed in, else in plain words.

Programs, the API and what pages ask for in the background get errors in the API's shape
(`server.http.errors`).
"""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from server.callers.session_passes import is_content_host
from server.callers.signed_in import Person, find_person
from server.http.coming_back import (
    ahead_of,
    busy_page,
    busy_words,
    let_come_back,
    seconds_of_page,
)
from server.http.error_table import SOON_SECONDS, TOO_MANY, UNAVAILABLE
from server.http.errors import ALL_TAKEN, NO_DATABASE, ApiError, as_api_error
from server.http.probes import PROBE_PATHS
from server.services import get_services
from server.site.framing import frame_of
from server.ui.messages import AWAY, FAULT, TOO_OFTEN, refusal_of
from server.ui.shell import Message
from server.ui.site import render_page
from server.xprof.pages import html_response

_NEVER_PAGES = ("/v1", "/_assets/", "/openapi.json", *PROBE_PATHS)
_FOR_PROGRAMS = ("/s/", *_NEVER_PAGES)


def wants_page(request: Request) -> bool:
    """Whether a browser opens a page, and not something of the API or of a profile."""
    path: str = request.scope["path"]
    is_page = not path.startswith(_FOR_PROGRAMS) and "/data/plugin/profile" not in path
    return is_page and "text/html" in request.headers.get("accept", "")


def opens_page(request: Request) -> bool:
    """The same, or a link or a profile, whose own words for trouble are of no use when all is in trouble."""
    path: str = request.scope["path"]
    return not path.startswith(_NEVER_PAGES) and "text/html" in request.headers.get("accept", "")


def message_page(
    request: Request, message: Message, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """What is the matter, in the frame if somebody has signed in; blocks on the database."""
    services = get_services(request)
    person = signed_in_person(request)
    if person is None:
        response = html_response(services.policies, message.render(), "words", status)
    else:
        text = render_page("message.html", frame_of(services, person), message=message)
        response = html_response(services.policies, text, "site", status)
    response.headers.update(headers or {})
    return response


def refusal_page(request: Request, error: Exception) -> Response | None:
    """A refusal of any of our parts as a page; None for a fault, and for what is no page."""
    known = as_api_error(error)
    if known is None or not wants_page(request):
        return None
    status = known.answer.http
    if known.answer.retry_after is None:
        return message_page(request, refusal_of(known.message, status), status, known.headers)
    told = int(known.headers.get("Retry-After", known.answer.retry_after))
    seconds = seconds_of_page(told)
    title = TOO_OFTEN if status == TOO_MANY.http else busy_words(ahead_of(known.details))
    message = busy_page(request.method, title, known.message, seconds)
    page = message_page(request, message, status, known.headers)
    let_come_back(request.method, page, told, seconds)
    return page


def database_page(request: Request, error: Exception) -> Response:
    """What is said while the database is away; asks nobody, who has signed in least of all."""
    told = UNAVAILABLE.retry_after or SOON_SECONDS
    seconds = seconds_of_page(told)
    is_busy = isinstance(error, PoolTimeoutError)
    title, text = (busy_words(None), ALL_TAKEN) if is_busy else (AWAY, NO_DATABASE)
    message = busy_page(request.method, title, text, seconds, names_request=not is_busy)
    page = html_response(get_services(request).policies, message.render(), "words", 503)
    let_come_back(request.method, page, told, seconds)
    return page


def fault_page(request: Request) -> Response:
    """What a fault of ours says; asks nothing and nobody, for that may be what fails."""
    policies = get_services(request).policies
    return html_response(policies, FAULT.render(), "words", 500)


def signed_in_person(request: Request) -> Person | None:
    """Who has signed in, if anybody, where no sign-in is asked for; blocks on the database."""
    services = get_services(request)
    if is_content_host(request, services):
        return None
    try:
        return find_person(request, services)
    except ApiError:  # a development server that is asked by another name
        return None
