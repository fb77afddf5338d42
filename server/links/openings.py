"""The opening of a link's page: counted, written down, and kept by the browser where the link counts."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from fastapi import Request, Response
from sqlalchemy.exc import SQLAlchemyError

from auth.identity import Principal
from auth.links import ShareLink, count_open
from server.audit.requests import record_opening
from server.callers.session_passes import is_content_host
from server.callers.signed_in import find_person
from server.http.errors import ApiError
from server.links.cookies import set_opening
from server.links.gate import LinkEnd, LinkEndedError, has_opened, link_path
from server.links.grants import SessionGrant
from server.registry.links import SqlLinkStore
from server.services import Services

logger = logging.getLogger(__name__)


def note_opening(request: Request, services: Services, grant: SessionGrant) -> ShareLink | None:
    """Counts that a link's page is opened, and writes it down; the link, if the browser shall keep that.

    A link that may be opened so often only counts a browser once a day; others count each opening, and don't
    wait for a database in trouble.

    Raises:
        LinkEndedError: it was opened as often as it may be, perhaps in this moment.
    """
    link = grant.link
    if request.method != "GET" or link is None:
        return None
    is_counted = link.most_opens is not None
    if is_counted and has_opened(request, services, link):
        return None
    store, now = SqlLinkStore(services.database), datetime.now(UTC)
    if is_counted and not count_open(store, link, now):
        raise LinkEndedError(LinkEnd.USED_UP)
    try:
        if not is_counted:
            count_open(store, link, now)
        record_opening(request, services, link, _viewer(request, services, grant))
    except SQLAlchemyError as problem:
        logger.warning("an opening of a link was not counted: %s", type(problem).__name__)
    return link if is_counted else None


def keep_opening(
    response: Response, request: Request, services: Services, link: ShareLink
) -> Response:
    """The response, which lets the browser keep that its opening was counted."""
    sealed = services.link_seals.write_opening(link, datetime.now(UTC))
    path = link_path(services, request.path_params["token"])
    set_opening(response, request, services.settings, sealed, path)
    return response


def _viewer(request: Request, services: Services, grant: SessionGrant) -> Principal | None:
    """Who opens it, as far as is known without asking: a person who has signed in on this host."""
    if grant.viewer is not None:
        return grant.viewer
    # On a developer's machine everybody is the same person, and nobody knows who that is.
    if services.settings.auth == "dev" or is_content_host(request, services):
        return None
    try:
        person = find_person(request, services)
    except ApiError:
        # The link does not ask who it is, so it opens for somebody of whom nobody can tell just now.
        return None
    return person.principal if person else None
