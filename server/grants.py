"""What a request under a link (or, for signed-in people, under a run) may see: exactly one session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import quote

from auth.links import Active, Expired, Revoked, ShareLink, resolve
from server.registry.links import SqlLinkStore
from server.registry.sessions import find_session_by_uid
from server.services import ServicesDependency


class LinkEnd(StrEnum):
    """Why a link opens nothing."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    REVOKED = "revoked"


class LinkEndedError(Exception):
    """Raised for a token that opens nothing; never says whether its target exists."""

    def __init__(self, end: LinkEnd) -> None:
        super().__init__(end.value)
        self.end = end


@dataclass(frozen=True)
class SessionGrant:
    """The right to look at one session.

    Attributes:
        location: where the session's files lie.
        run_name: for people.
        session_name: the session's id; XProf's UI calls it the run.
        prefix: URL path of everything under this grant, percent-encoded, without trailing slash.
        expires: when the right ends, or None.
        link: the share link, None for a signed-in person.
    """

    location: str
    run_name: str
    session_name: str
    prefix: str
    expires: datetime | None
    link: ShareLink | None


def link_grant(token: str, services: ServicesDependency) -> SessionGrant:
    """What the token in the path opens.

    Raises:
        LinkEndedError: it opens nothing.
    """
    outcome = resolve(SqlLinkStore(services.database), token, datetime.now(UTC))
    if isinstance(outcome, Expired):
        raise LinkEndedError(LinkEnd.EXPIRED)
    if isinstance(outcome, Revoked):
        raise LinkEndedError(LinkEnd.REVOKED)
    if not isinstance(outcome, Active):
        raise LinkEndedError(LinkEnd.UNKNOWN)
    session = find_session_by_uid(services.database, outcome.link.session_uid)
    if session is None:
        raise LinkEndedError(LinkEnd.REVOKED)
    return SessionGrant(
        location=session.location,
        run_name=session.run,
        session_name=session.id,
        prefix=f"{services.settings.path_prefix}/s/{quote(token, safe='')}",
        expires=outcome.link.expires,
        link=outcome.link,
    )
