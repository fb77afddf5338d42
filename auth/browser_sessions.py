"""Who has signed in with a browser, and what the browser shows for it.

Three sealed texts, each good for one thing: the cookie names a browser session and is good for every page;
the pass names one too, and one profiler session, and is good for that one on the host where profiles are
shown; the hand-over brings the right to a pass from the one host to the other, within a minute and once
(whoever takes it keeps which were used). A browser
session is kept in the registry, so that signing out ends all three everywhere. None says what may be done:
`principal_of` asks anew at each request, so a revoked token or a smaller role counts at once.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from auth.identity import ApiToken, Principal
from auth.members import KnownPerson, Membership, principal_of_person
from auth.sealing import Fields, Seal

LONGEST_PASS = timedelta(hours=8)
"""A day's work with one profile; the page asks for another pass by itself when it is loaded again."""
HAND_OVER_TIME = timedelta(seconds=60)
"""For one redirect, on a slow line and with clocks of front ends that differ."""
GROUPS_TIME = timedelta(hours=24)
"""How long groups count that the provider told: whoever leaves one loses its role within a day, without us
being told. Who has a role by a group signs in again each day, at most providers without typing anything."""
NO_SESSION = ""
"""Stands for the id of a browser session where nobody signs in: on a development server, and behind IAP."""


class SignInMethod(StrEnum):
    """How somebody has signed in."""

    NONE = "none"
    TOKEN = "token"  # noqa: S105 - a word
    OIDC = "oidc"
    IAP = "iap"


@dataclass(frozen=True)
class BrowserSession:
    """Somebody has signed in.

    Attributes:
        id: random; no secret, for only a sealed text shows it.
        method: how.
        subject: id of the API token that was shown, or `user:` and the address.
        person: whom another party vouches for; None for a token.
        created: when (UTC).
        expires: first moment at which it is over (UTC, whole seconds).
        ended: when somebody signed out or was signed out, or None.
    """

    id: str
    method: SignInMethod
    subject: str
    person: KnownPerson | None
    created: datetime
    expires: datetime
    ended: datetime | None = None


@dataclass(frozen=True)
class FoundSession:
    """A browser session with what it is worth at the moment.

    Attributes:
        session: what was kept when it began.
        token: the API token behind it, for one that began with a token and has not lost it.
        memberships: roles that may be the person's.
    """

    session: BrowserSession
    token: ApiToken | None
    memberships: tuple[Membership, ...]


@dataclass(frozen=True)
class SessionPass:
    """The right to look at one profiler session, and nothing else.

    Attributes:
        browser_session: id of the browser session that it ends with.
        session_uid: identity of the profiler session.
        expires: first moment at which it opens nothing (UTC, whole seconds).
    """

    browser_session: str
    session_uid: str
    expires: datetime


@dataclass(frozen=True)
class HandOver:
    """Becomes a pass on the other host, if it gets there in time.

    Attributes:
        granted: the pass.
        enter_by: first moment at which it is too late (UTC, whole seconds).
        mark: its own alone; by this it is known which have become passes already.
    """

    granted: SessionPass
    enter_by: datetime
    mark: str = field(default_factory=lambda: secrets.token_hex(16))


class BrowserSeals:
    """Writes and reads the three texts; holds nothing but keys. Its arguments are those of `Seal`."""

    def __init__(self, secret: str, accepted: Sequence[str] = ()) -> None:
        self._sessions = Seal(secret, "browser session 2", accepted)
        self._passes = Seal(secret, "session pass 2", accepted)
        self._hand_overs = Seal(secret, "hand-over 2", accepted)

    def write_session(self, session: BrowserSession) -> str:
        """A browser session as text."""
        return self._sessions.write({"id": session.id, "expires": _seconds(session.expires)})

    def read_session(self, text: str, now: datetime) -> str | None:
        """Id of the browser session of a text; None if it is over, or not ours."""
        fields = self._sessions.read(text)
        if fields is None or now >= _moment(fields["expires"]):
            return None
        return str(fields["id"])

    def write_pass(self, granted: SessionPass) -> str:
        """A pass as text."""
        return self._passes.write(_pass_fields(granted))

    def read_pass(self, text: str, now: datetime) -> SessionPass | None:
        """The pass of a text; None if it is over, or not ours."""
        fields = self._passes.read(text)
        return _pass_of(fields, now) if fields is not None else None

    def write_hand_over(self, hand_over: HandOver) -> str:
        """A hand-over as text."""
        how: Fields = {"enterBy": _seconds(hand_over.enter_by), "mark": hand_over.mark}
        return self._hand_overs.write({**_pass_fields(hand_over.granted), **how})

    def read_hand_over(self, text: str, now: datetime) -> HandOver | None:
        """The hand-over of a text; None if it comes too late, or is not ours."""
        fields = self._hand_overs.read(text)
        if fields is None or now >= _moment(fields["enterBy"]):
            return None
        granted = _pass_of(fields, now)
        # The version before wrote no marks, and goes on for a while beside this one.
        otherwise = f"{fields['browser']} {fields['session']} {fields['enterBy']}"
        mark = str(fields.get("mark", otherwise))
        return HandOver(granted, _moment(fields["enterBy"]), mark) if granted else None


def session_by_token(token: ApiToken, now: datetime, lifetime: timedelta) -> BrowserSession:
    """The browser session of who has shown an API token that works; ends with the token at the latest."""
    expires = min(now + lifetime, token.expires or now + lifetime)
    return BrowserSession(
        _new_id(), SignInMethod.TOKEN, token.id, None, now, expires.replace(microsecond=0)
    )


def session_of_person(
    person: KnownPerson, method: SignInMethod, now: datetime, lifetime: timedelta
) -> BrowserSession:
    """The browser session of somebody whom another party vouches for."""
    expires = (now + lifetime).replace(microsecond=0)
    return BrowserSession(_new_id(), method, person.id, person, now, expires)


def hand_over(session: BrowserSession, session_uid: str, now: datetime) -> HandOver:
    """What lets the other host show one profiler session to whom this browser session belongs."""
    expires = min(session.expires, now + LONGEST_PASS)
    granted = SessionPass(session.id, session_uid, expires)
    return HandOver(granted, now + HAND_OVER_TIME)


def principal_of(found: FoundSession, admins: Collection[str], now: datetime) -> Principal | None:
    """Who a browser session stands for at this moment; None when it is over, or its holder has no role.

    It is over, too, when the role hangs on groups that were told too long ago: a smaller role without a word
    would be a riddle.

    Args:
        found: the browser session with what it is worth.
        admins: members that are admins by setting.
        now: this moment.
    """
    session, token = found.session, found.token
    if session.ended is not None or now >= session.expires:
        return None
    if session.person is not None:
        principal = principal_of_person(session.person, found.memberships, admins)
        if now < session.created + GROUPS_TIME:
            return principal
        alone = replace(session.person, groups=())
        without = principal_of_person(alone, found.memberships, admins)
        return principal if without == principal else None
    if token is None or token.id != session.subject or not token.works_at(now):
        return None
    return token.principal


def _new_id() -> str:
    return secrets.token_hex(16)


def _pass_fields(granted: SessionPass) -> Fields:
    return {
        "browser": granted.browser_session,
        "session": granted.session_uid,
        "expires": _seconds(granted.expires),
    }


def _pass_of(fields: Fields, now: datetime) -> SessionPass | None:
    browser, session = str(fields["browser"]), str(fields["session"])
    granted = SessionPass(browser, session, _moment(fields["expires"]))
    return granted if now < granted.expires else None


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _moment(seconds: str | int) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
