"""The addresses that answers of the API hold: where this hub's own pages are, for whoever called.

Links have an address of their own (`server.routes.links`), on the host for content if there is one.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from server.services import get_services
from server.site.paths import session_page
from server.ui.shell import PROFILE_PATH


def page_base(request: Request) -> str:
    """Address of the hub's pages with its path prefix, without a slash at the end.

    The public address if one is set, else the one that was called.
    """
    settings = get_services(request).settings
    called = f"{request.url.scheme}://{request.url.netloc}"
    return f"{settings.base_url.rstrip('/') or called}{settings.path_prefix}"


PageBase = Annotated[str, Depends(page_base)]


def dashboard_uri(base: str, run: str, session: str) -> str:
    """Address of a session's XProf for people who are signed in."""
    return f"{session_uri(base, run, session)}{PROFILE_PATH}"


def session_uri(base: str, run: str, session: str) -> str:
    """Address of the page about a session for people who are signed in."""
    return session_page(base, run, session)
