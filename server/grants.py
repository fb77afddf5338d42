"""What a request under a link (or, for signed-in people, under a run) may see: exactly one session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import quote

from auth.links import Active, Expired, Revoked, ShareLink, resolve
from server.registry.errors import RegistryError
from server.registry.links import SqlLinkStore
from server.registry.runs import get_run
from server.registry.sessions import find_session_by_uid
from server.services import Services, ServicesDependency


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
        locations: where the session's files lie.
        run_id: id of the session's run.
        session_id: the session's id; XProf's UI calls it the run.
        session_name: for people.
        prefix: URL path of everything under this grant, percent-encoded, without trailing slash.
        expires: when the right ends, or None.
        expected_hosts: how many hosts took part, if the session's maker said so.
        link: the share link, None for a signed-in person.
    """

    locations: tuple[str, ...]
    run_id: str
    session_id: str
    session_name: str
    prefix: str
    expires: datetime | None
    expected_hosts: int | None
    link: ShareLink | None


def run_title(services: Services, grant: SessionGrant) -> str:
    """The run's name for people; its id when it has none, or has gone in this moment. Asks the database."""
    try:
        return get_run(services.database, grant.run_id).display_name or grant.run_id
    except RegistryError:
        return grant.run_id


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
        locations=session.locations,
        run_id=session.run,
        session_id=session.id,
        session_name=session.display_name or session.id,
        prefix=f"{services.settings.path_prefix}/s/{quote(token, safe='')}",
        expires=outcome.link.expires,
        expected_hosts=session.expected_hosts,
        link=outcome.link,
    )
