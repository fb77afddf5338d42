"""What is answered to those whom a signed-in page does not let in: a way in, or a reason in words.

A browser that opens a page is led on; what a page asks for in the background gets an error, which the page
shows.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from server.callers.session_passes import ShownElsewhereError, is_content_host
from server.callers.signed_in import NotAllowedError, NothingThereError, SignInNeededError
from server.http.error_table import FORBIDDEN, NOT_FOUND, UNAUTHENTICATED, ErrorAnswer
from server.http.errors import DATABASE_AWAY, error_response
from server.http.redirects import lead_to
from server.services import get_services
from server.site.error_pages import (
    database_page,
    fault_page,
    message_page,
    opens_page,
    wants_page,
)
from server.ui.messages import NOT_ALLOWED, NOTHING_THERE, SIGN_IN_NEEDED
from server.ui.shell import Message

SIGN_IN_PATH = "/signin"
PROVIDER_PATH = f"{SIGN_IN_PATH}/oidc"
CALLBACK_PATH = f"{SIGN_IN_PATH}/callback"
_READING = frozenset({"GET", "HEAD"})
_OPENED_BY_ITSELF = frozenset({"", "document"})
"""`Sec-Fetch-Dest` of a page in a tab of its own; browsers leave it out where there is no TLS."""


def install_turned_away(app: FastAPI) -> None:
    """Lets an app answer the exceptions of `server.callers.signed_in` and `server.callers.session_passes`."""
    app.add_exception_handler(SignInNeededError, _on_sign_in_needed)
    app.add_exception_handler(ShownElsewhereError, _on_shown_elsewhere)
    app.add_exception_handler(NotAllowedError, _on_not_allowed)
    app.add_exception_handler(NothingThereError, _on_nothing_there)
    _show_browsers_pages(app, HTTPException, _on_http_error)
    _show_browsers_pages(app, Exception, _on_fault, opens_page)
    for kind in DATABASE_AWAY:
        _show_browsers_pages(app, kind, _on_database_away, opens_page)


def _show_browsers_pages(
    app: FastAPI,
    kind: type[Exception],
    page: Callable[[Request, Exception], Response | None],
    wants: Callable[[Request], bool] = wants_page,
) -> None:
    """Puts a page before the answer that programs get, which stays for them."""
    for_programs = app.exception_handlers[kind]

    async def answer(request: Request, error: Exception) -> Response:
        told = for_programs(request, error)
        response = told if isinstance(told, Response) else await told
        shown = await run_in_threadpool(page, request, error) if wants(request) else None
        if shown is None:
            return response
        # No middleware adds the headers of safety to the answer to a fault.
        for name, value in response.headers.items():
            if not name.startswith("content-"):
                shown.headers.setdefault(name, value)
        return shown

    app.add_exception_handler(kind, answer)


def _on_http_error(request: Request, error: Exception) -> Response | None:
    is_nothing = isinstance(error, HTTPException) and error.status_code == 404
    return message_page(request, NOTHING_THERE, 404) if is_nothing else None


def _on_database_away(request: Request, error: Exception) -> Response:
    return database_page(request, error)


def _on_fault(request: Request, _error: Exception) -> Response:
    return fault_page(request)


def sign_in_address(path_prefix: str, back: str) -> str:
    """Path of the page to sign in, and to go on from there."""
    return f"{path_prefix}{SIGN_IN_PATH}?next={quote(back, safe='/')}"


def provider_path(path_prefix: str, back: str) -> str:
    """Path that leads to the provider, and from there back to a path of this hub."""
    return f"{path_prefix}{PROVIDER_PATH}?next={quote(back, safe='/')}"


def _on_sign_in_needed(request: Request, error: Exception) -> Response:
    if not isinstance(error, SignInNeededError):
        raise error
    settings = get_services(request).settings
    if _is_opened(request):
        if not is_content_host(request, get_services(request)):
            return lead_to(sign_in_address(settings.path_prefix, error.back))
        if settings.base_url:
            return lead_to(f"{settings.base_url.rstrip('/')}{error.back}")
    return _words(request, UNAUTHENTICATED, SIGN_IN_NEEDED, "Reload this page to sign in again.")


def _on_shown_elsewhere(request: Request, error: Exception) -> Response:
    if not isinstance(error, ShownElsewhereError):
        raise error
    # A frame or a script must not be able to collect rights to sessions that nobody opened.
    if _is_opened(request):
        return lead_to(error.address)
    return _words(request, NOT_FOUND, NOTHING_THERE, "Profiles are shown on another host.")


def _on_not_allowed(request: Request, error: Exception) -> Response:
    if not isinstance(error, NotAllowedError):
        raise error
    return _words(request, FORBIDDEN, NOT_ALLOWED, NOT_ALLOWED.text)


def _on_nothing_there(request: Request, error: Exception) -> Response:
    if not isinstance(error, NothingThereError):
        raise error
    return _words(request, NOT_FOUND, NOTHING_THERE, NOTHING_THERE.text)


def _is_opened(request: Request) -> bool:
    """Whether somebody opens a page of its own."""
    return (
        request.method in _READING
        and "text/html" in request.headers.get("accept", "")
        and request.headers.get("sec-fetch-dest", "") in _OPENED_BY_ITSELF
    )


def _words(request: Request, answer: ErrorAnswer, message: Message, sentence: str) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return message_page(request, message, answer.http)
    return error_response(answer, f"{message.title}. {sentence}")
