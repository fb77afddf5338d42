"""How a signed-in person's session is shown on the content host, where nobody is signed in.

A profile holds text by anybody, so with a content host (adr/019) XProf's page never runs where the cookie of
a signed-in person goes (adr/032). The hub's host checks the person and leads the browser to the content host
with a hand-over; there it becomes a pass, a cookie for this one session. Whoever comes to the content host
without one is led back to the hub's host, so that addresses copied there work for everybody who may sign in.
"""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import Request, Response

from auth.browser_sessions import SessionPass, hand_over
from auth.identity import LOCAL_ADMIN, Principal
from auth.policy import Action, may
from server.callers.browser_cookies import pass_cookie, set_pass
from server.callers.signed_in import (
    NotAllowedError,
    NothingThereError,
    Person,
    SignInNeededError,
    find_session,
    lasting_session,
    require_person,
    this_address,
)
from server.http.local_paths import address_path
from server.http.redirects import lead_to
from server.names import is_id, session_name
from server.registry.hand_overs import use_hand_over
from server.registry.openings import find_opened
from server.registry.records import ProfilerSession
from server.services import Services
from server.site.paths import run_page, session_page
from server.ui.shell import PROFILE_PATH
from server.web_addresses import is_host_of

ENTER = "/enter"
"""Where a hand-over arrives, below the session's path on the content host."""
GRANT = "grant"
"""Name of the parameter that holds one; it is the first of its query."""


class ShownElsewhereError(Exception):
    """The session is shown on the content host.

    Attributes:
        address: of the same there, with a hand-over: for the browser that asked, and nobody else.
    """

    def __init__(self, address: str) -> None:
        super().__init__("shown on the content host")
        self.address = address


def run_prefix(services: Services, run_id: str) -> str:
    """URL path of a run's pages, percent-encoded, without trailing slash."""
    return run_page(services.settings.path_prefix, run_id)


def session_prefix(services: Services, run_id: str, session_id: str) -> str:
    """URL path of everything of a session for people who have signed in."""
    return session_page(services.settings.path_prefix, run_id, session_id)


def is_content_host(request: Request, services: Services) -> bool:
    """Whether a request is for the content host."""
    content_url = services.settings.content_url
    return bool(content_url) and is_host_of(request.headers.get("host", ""), content_url)


def opened_session(
    request: Request, services: Services, run_id: str, session_id: str
) -> tuple[ProfilerSession, str]:
    """The session that a path names, with the identity of its run, if whoever asks may look at it here.

    Raises:
        SignInNeededError, NotAllowedError: nobody may, or not this person.
        ShownElsewhereError: somebody may, on the content host.
        NothingThereError: there is no such session.
        ApiError: as `server.callers.signed_in.find_person`.
    """
    name = session_name(run_id, session_id)
    if is_content_host(request, services):
        return _opened_by_pass(request, services, run_id, session_id)
    person = require_person(request, services, Action.SESSIONS_READ, name)
    found = _find(services, run_id, session_id)
    if found is None:
        raise NothingThereError
    if services.settings.content_url:
        raise ShownElsewhereError(_hand_over_address(request, services, person, found[0]))
    return found


def enter(
    request: Request, services: Services, run_id: str, session_id: str, rest: str
) -> Response:
    """Turns a hand-over into a pass, and leads to what was asked for at first.

    Args:
        request: to the content host.
        services: where to look.
        run_id: of the path.
        session_id: of the path.
        rest: what follows in the path: the address below XProf's.

    Raises:
        SignInNeededError, NothingThereError: as `redeemed`, the latter on any other host, too.
    """
    if not is_content_host(request, services):
        raise NothingThereError
    grant, query = grant_in(request)
    prefix = session_prefix(services, run_id, session_id)
    target = f"{prefix}{PROFILE_PATH}{address_path(rest, query)}"
    found = _find(services, run_id, session_id)
    granted = redeemed(request, services, grant, found[0].uid if found else "", target)
    return lead_with_pass(services, granted, target, prefix)


def redeemed(
    request: Request, services: Services, grant: str, subject: str, back: str
) -> SessionPass:
    """The pass that a hand-over becomes, once. Asks the database.

    A browser that sends a request again, because the answer was lost or somebody clicked twice, has the pass
    already, or gets another hand-over on the hub's host, where it is signed in. Nobody else is.

    Args:
        request: to the content host.
        services: where the seals are.
        grant: the hand-over.
        subject: identity of what is asked for; empty where nothing is there.
        back: path on the hub's host to begin anew.

    Raises:
        SignInNeededError: the hand-over came too late, was used, or is none.
        NothingThereError: it is for something else.
    """
    seals, now = services.sign_ins.seals, datetime.now(UTC)
    handed = seals.read_hand_over(grant, now)
    if handed is None:
        raise SignInNeededError(back)
    granted = handed.granted
    if granted.session_uid != subject:
        raise NothingThereError
    if use_hand_over(services.database, handed.mark, handed.enter_by, now):
        return granted
    held = seals.read_pass(pass_cookie(request, services.settings), now)
    if held is None or held.session_uid != subject:
        raise SignInNeededError(back)
    return held


def lead_with_pass(services: Services, granted: SessionPass, target: str, path: str) -> Response:
    """Leads to what was asked for at first, with a pass for a path."""
    response = lead_to(target)
    text = services.sign_ins.seals.write_pass(granted)
    set_pass(response, services.settings, text, path, granted.expires)
    return response


def _opened_by_pass(
    request: Request, services: Services, run_id: str, session_id: str
) -> tuple[ProfilerSession, str]:
    """The session of a pass; whatever is wrong, the hub's host says what."""
    now = datetime.now(UTC)
    granted = services.sign_ins.seals.read_pass(pass_cookie(request, services.settings), now)
    principal = holder(services, granted, now) if granted else None
    found = _find(services, run_id, session_id) if principal else None
    if granted is None or found is None or found[0].uid != granted.session_uid:
        raise SignInNeededError(this_address(request, services))
    if not may(principal, Action.SESSIONS_READ, session_name(run_id, session_id)):
        raise NotAllowedError
    return found


def holder(services: Services, granted: SessionPass, now: datetime) -> Principal | None:
    """Who a pass stands for at this moment; None when that has ended. Asks the database."""
    if services.settings.auth == "dev":
        return LOCAL_ADMIN
    found = find_session(services, granted.browser_session, now)
    return found[0] if found else None


def _find(services: Services, run_id: str, session_id: str) -> tuple[ProfilerSession, str] | None:
    if not is_id(run_id) or not is_id(session_id):
        return None
    return find_opened(services.database, run_id, session_id)


def _hand_over_address(
    request: Request, services: Services, person: Person, session: ProfilerSession
) -> str:
    prefix = session_prefix(services, session.run, session.id)
    rest = request.scope["path"].partition(PROFILE_PATH)[2]
    path = address_path(f"/{rest}" if rest else "", "")
    query = hand_over_query(request, services, person, session.uid)
    return f"{services.settings.content_url}{prefix}{ENTER}{path}{query}"


def hand_over_query(request: Request, services: Services, person: Person, subject: str) -> str:
    """A request's own query behind a hand-over, with the question mark.

    Args:
        request: to the hub's host.
        services: where the seals are.
        person: whom it brings over.
        subject: identity of what it lets in to.
    """
    now = datetime.now(UTC)
    granted = hand_over(lasting_session(services, person, now), subject, now)
    text = services.sign_ins.seals.write_hand_over(granted)
    mark = f"&{request.url.query}" if request.url.query else ""
    return address_path("", f"{GRANT}={text}{mark}")


def grant_in(request: Request) -> tuple[str, str]:
    """The hand-over at the beginning of a query, and the rest of it."""
    first, _, rest = request.url.query.partition("&")
    name, _, text = first.partition("=")
    return (text, rest) if name == GRANT else ("", request.url.query)
