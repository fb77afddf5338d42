"""The cookies of people who sign in: their names, and what browsers may do with them.

None is read by a script (HttpOnly) or sent along by a page of another site (SameSite=Lax), and the API
reads none (`server.callers.access`).
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from fastapi import Request, Response

from server.settings import Settings

_SIGNED_IN = "xprof-hub"
_ATTEMPT = "xprof-hub-attempt"
_PASS = "xprof-hub-pass"  # noqa: S105 - a name


def signed_in_cookie(request: Request, settings: Settings) -> str:
    """Text of the cookie that shows who has signed in; empty when there is none."""
    return request.cookies.get(_own_name(_SIGNED_IN, request, settings), "")


def set_signed_in(
    response: Response, request: Request, settings: Settings, text: str, expires: datetime
) -> None:
    """Lets the browser keep who has signed in, for all pages of this host."""
    _set_own(response, request, settings, _SIGNED_IN, text, expires)


def forget_signed_in(response: Response, request: Request, settings: Settings) -> None:
    """Lets the browser forget it."""
    set_signed_in(response, request, settings, "", datetime.fromtimestamp(0, UTC))


def attempt_cookie(request: Request, settings: Settings) -> str:
    """Text of the cookie of who is on the way to the provider and back; empty when there is none."""
    return request.cookies.get(_own_name(_ATTEMPT, request, settings), "")


def set_attempt(
    response: Response, request: Request, settings: Settings, text: str, expires: datetime
) -> None:
    """Lets the browser keep that somebody is on the way to the provider."""
    _set_own(response, request, settings, _ATTEMPT, text, expires)


def forget_attempt(response: Response, request: Request, settings: Settings) -> None:
    """Lets the browser forget it: a way back is good once."""
    set_attempt(response, request, settings, "", datetime.fromtimestamp(0, UTC))


def pass_cookie(request: Request, settings: Settings) -> str:
    """Text of the cookie that opens one session on the content host; empty when there is none."""
    return request.cookies.get(_pass_name(settings), "")


def set_pass(
    response: Response, settings: Settings, text: str, path: str, expires: datetime
) -> None:
    """Lets the browser keep a pass, and send it for one session's path only."""
    set_cookie(response, _pass_name(settings), text, path, expires, is_tls(settings.content_url))


def _set_own(
    response: Response,
    request: Request,
    settings: Settings,
    name: str,
    text: str,
    expires: datetime,
) -> None:
    """Sets a cookie for all pages of the hub's host."""
    own = _own_name(name, request, settings)
    set_cookie(response, own, text, "/", expires, _is_secure(request, settings))


def set_cookie(
    response: Response, name: str, text: str, path: str, expires: datetime, is_secure: bool
) -> None:
    """Sets a cookie that no script reads and no page of another site has sent along.

    Args:
        response: sets it.
        name: its name.
        text: what the browser keeps.
        path: below which it is sent.
        expires: UTC; in the past, the browser forgets it.
        is_secure: whether it is sent by TLS only.
    """
    seconds = max(0, int((expires - datetime.now(UTC)).total_seconds()))
    response.set_cookie(
        name, text, seconds, path=path, secure=is_secure, httponly=True, samesite="lax"
    )


def _is_secure(request: Request, settings: Settings) -> bool:
    """Whether the browser came by TLS; only an administrator's word counts where there is one."""
    return is_tls(settings.base_url or str(request.url))


def is_tls(address: str) -> bool:
    """Whether an address is reached by TLS."""
    return address.startswith("https://")


def _own_name(name: str, request: Request, settings: Settings) -> str:
    """With TLS a name that no other host of the domain, and nobody on the way, can set a cookie for.

    Two hubs below one host name have names of their own, for such a cookie goes to all paths.
    """
    prefix = settings.path_prefix
    mark = f"-{hashlib.sha256(prefix.encode()).hexdigest()[:8]}" if prefix else ""
    return f"{'__Host-' if _is_secure(request, settings) else ''}{name}{mark}"


def _pass_name(settings: Settings) -> str:
    # `__Host-` would ask for the path `/`, and a pass is for one session.
    return f"{'__Secure-' if is_tls(settings.content_url) else ''}{_PASS}"
