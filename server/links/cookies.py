"""What browsers keep of a share link: names of the cookies, and what may be done with them.

Both go to the link's own path only, are read by no script (HttpOnly), and come along from no other site
(SameSite=Lax): in a frame of another site a browser neither keeps nor sends them. What stands in them is
`auth.link_seals`' matter.
"""

from __future__ import annotations

from fastapi import Request, Response

from auth.link_seals import SealedText
from server.callers.browser_cookies import is_tls, set_cookie
from server.settings import Settings

_KEY = "xprof-hub-key"
_OPENING = "xprof-hub-opening"


def key_cookie(request: Request, settings: Settings) -> str:
    """What shows that the link's password was right; empty when there is nothing."""
    return request.cookies.get(_name(_KEY, request, settings), "")


def set_key(
    response: Response, request: Request, settings: Settings, sealed: SealedText, path: str
) -> None:
    """Lets the browser keep that the password of the link at this path was right."""
    _set(response, request, settings, _KEY, sealed, path)


def opening_cookie(request: Request, settings: Settings) -> str:
    """What shows that an opening of the link was counted; empty when there is nothing."""
    return request.cookies.get(_name(_OPENING, request, settings), "")


def set_opening(
    response: Response, request: Request, settings: Settings, sealed: SealedText, path: str
) -> None:
    """Lets the browser keep that its opening of the link at this path was counted."""
    _set(response, request, settings, _OPENING, sealed, path)


def _set(
    response: Response,
    request: Request,
    settings: Settings,
    name: str,
    sealed: SealedText,
    path: str,
) -> None:
    own = _name(name, request, settings)
    set_cookie(response, own, sealed.text, path, sealed.expires, _is_secure(request, settings))


def _name(name: str, request: Request, settings: Settings) -> str:
    # `__Host-` would ask for the path `/`.
    return f"__Secure-{name}" if _is_secure(request, settings) else name


def _is_secure(request: Request, settings: Settings) -> bool:
    """Whether links are opened by TLS; only an administrator's word counts where there is one."""
    return is_tls(settings.link_url or str(request.url))
