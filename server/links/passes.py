"""How a link that asks for somebody who has signed in is opened on the content host, where nobody is.

As a session's page (`server.callers.session_passes`): the hub's host checks who it is and leads over with a
hand-over, which becomes a pass there, a cookie for this one link's path. The pass says who opened the link;
whether he still may is asked at each request.
"""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import quote

from fastapi import Request, Response

from auth.identity import Principal
from auth.links import ShareLink
from server.callers.browser_cookies import pass_cookie
from server.callers.session_passes import (
    ShownElsewhereError,
    grant_in,
    hand_over_query,
    holder,
    is_content_host,
    lead_with_pass,
    redeemed,
)
from server.callers.signed_in import NothingThereError, Person
from server.http.local_paths import address_path
from server.services import Services

ENTRY = "/enter"
"""On the hub's host: where a link begins that asks who opens it. On the content host: below the link's path,
where a hand-over arrives."""


def entry_path(services: Services, token: str) -> str:
    """Path on the hub's host at which whoever opens a link is asked who he is."""
    return f"{services.settings.path_prefix}{ENTRY}/{quote(token, safe='')}"


def link_pass_holder(request: Request, services: Services, link: ShareLink) -> Principal | None:
    """Who has come over to open this link, as far as he still has a role; None for nobody."""
    now = datetime.now(UTC)
    text = pass_cookie(request, services.settings)
    granted = services.sign_ins.seals.read_pass(text, now) if text else None
    if granted is None or granted.session_uid != _subject(link):
        return None
    return holder(services, granted, now)


def lead_over(
    request: Request, services: Services, person: Person, link: ShareLink, path: str, rest: str
) -> ShownElsewhereError:
    """What leads somebody who may open a link to the content host.

    Args:
        request: to the hub's host.
        services: where the seals are.
        person: who opens it.
        link: what.
        path: of the link.
        rest: what follows in the path: the address below the link's.
    """
    query = hand_over_query(request, services, person, _subject(link))
    place = f"{path}{ENTRY}{address_path(rest, '')}"
    return ShownElsewhereError(f"{services.settings.content_url}{place}{query}")


def enter(
    request: Request, services: Services, token: str, link: ShareLink, path: str, rest: str
) -> Response:
    """Turns a hand-over into a pass, and leads to what was asked for at first.

    Raises:
        NothingThereError: this is not the content host, or the hand-over is for another link.
        SignInNeededError: it came too late, was used, or is none.
    """
    if not is_content_host(request, services):
        raise NothingThereError
    grant, query = grant_in(request)
    back = address_path(f"{entry_path(services, token)}{rest}", query)
    granted = redeemed(request, services, grant, _subject(link), back)
    return lead_with_pass(services, granted, f"{path}{address_path(rest, query)}", path)


def _subject(link: ShareLink) -> str:
    """What a pass for a link is for; no profiler session has such an identity."""
    return f"link:{link.id}"
