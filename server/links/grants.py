"""What a request under a link (or, for signed-in people, under a run) may see: exactly one session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from fastapi import Request

from auth.identity import Principal
from auth.links import SessionTarget, ShareLink
from server.callers.session_passes import opened_session, run_prefix
from server.links.gate import (
    Admitted,
    LinkEnd,
    LinkEndedError,
    admitted,
    link_path,
    require_opened,
)
from server.names import is_id
from server.registry.records import ProfilerSession, SessionState
from server.registry.runs import find_run_name
from server.registry.sessions import find_session_of_run
from server.services import Services, ServicesDependency


@dataclass(frozen=True)
class WholeRun:
    """The right to look at a session's whole run.

    Attributes:
        uid: identity of the run.
        prefix: URL path of everything under this right, percent-encoded, without trailing slash.
    """

    uid: str
    prefix: str

    def session_prefix(self, session_id: str) -> str:
        """The prefix of a session of the run."""
        return f"{self.prefix}/sessions/{quote(session_id, safe='')}"


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
        viewer: who looks at it, where the link asks for that; else None.
        run: the right to the run's other sessions, None where there is none.
        awaits_files: whether hosts may still come.
    """

    locations: tuple[str, ...]
    run_id: str
    session_id: str
    session_name: str
    prefix: str
    expires: datetime | None
    expected_hosts: int | None
    link: ShareLink | None
    run: WholeRun | None = None
    awaits_files: bool = False
    viewer: Principal | None = None

    @property
    def is_redacted(self) -> bool:
        """Whether pseudonyms are shown instead of the profile's names and texts."""
        return self.link is not None and self.link.is_redacted


def run_title(services: Services, grant: SessionGrant) -> str:
    """The run's name for people; its id when it has none, or has gone in this moment. Asks the database."""
    return find_run_name(services.database, grant.run_id) or grant.run_id


def session_grant(request: Request, services: ServicesDependency) -> SessionGrant:
    """What the request's path opens: the one place where paths become rights.

    Every route under XProf's path asks here. What the route's template names says which kind of right it is.

    Raises:
        LinkEndedError, PasswordNeededError: the path has a link's token, and opens nothing, or not yet.
        OpeningNeededError: the link counts its openings, and the page was not opened.
        SignInNeededError, NotAllowedError, ShownElsewhereError, NothingThereError: it opens nothing for
            whoever asks, or not here (`server.callers.session_passes.opened_session`).
    """
    grant = page_grant(request, services)
    if grant.link is not None:
        require_opened(request, services, grant.link)
    return grant


def page_grant(request: Request, services: ServicesDependency) -> SessionGrant:
    """The same for the page itself, which counts an opening before it shows anything.

    Raises:
        LinkEndedError, PasswordNeededError, SignInNeededError, NotAllowedError, ShownElsewhereError,
            NothingThereError: as `session_grant`.
    """
    values = request.path_params
    if "token" in values:
        found = admitted(request, services, values["token"])
        return _grant_of_link(services, found, values["token"], values.get("session"))
    return _grant_of_person(request, services, values["run"], values["session"])


def _grant_of_person(
    request: Request, services: Services, run_id: str, session_id: str
) -> SessionGrant:
    """What somebody who has signed in may look at; the run's other sessions too."""
    session, run_uid = opened_session(request, services, run_id, session_id)
    run = WholeRun(run_uid, run_prefix(services, run_id))
    return _grant(session, run.session_prefix(session.id), None, run)


def _grant_of_link(
    services: Services, found: Admitted, token: str, session_id: str | None
) -> SessionGrant:
    """What a link opens.

    Args:
        services: where to look.
        found: the link that the token names.
        token: as the path has it.
        session_id: the session that the path names; None where the path names none.

    Raises:
        LinkEndedError: it opens nothing, or not this. A session that is not there, one of another run, and a
            path that is not this kind of link's are all the same as a token that nobody knows.
    """
    link = found.link
    if isinstance(link.target, SessionTarget):
        if session_id is not None:
            raise LinkEndedError(LinkEnd.UNKNOWN)
        if found.session is None:
            raise LinkEndedError(LinkEnd.REVOKED)
        return _grant(found.session, link_path(services, token), found, None)
    if session_id is None or not is_id(session_id):
        raise LinkEndedError(LinkEnd.UNKNOWN)
    session = find_session_of_run(services.database, link.target.uid, session_id)
    if session is None:
        raise LinkEndedError(LinkEnd.UNKNOWN)
    run = WholeRun(link.target.uid, link_path(services, token))
    return _grant(session, run.session_prefix(session.id), found, run)


def _grant(
    session: ProfilerSession, prefix: str, found: Admitted | None, run: WholeRun | None
) -> SessionGrant:
    link = found.link if found else None
    return SessionGrant(
        locations=session.locations,
        run_id=session.run,
        session_id=session.id,
        session_name=session.display_name or session.id,
        prefix=prefix,
        expires=link.expires if link else None,
        expected_hosts=session.expected_hosts,
        link=link,
        run=run,
        awaits_files=session.state is SessionState.OPEN,
        viewer=found.viewer if found else None,
    )
