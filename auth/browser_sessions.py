"""What a browser shows instead of a token, once somebody has signed in with one.

Three sealed texts, each good for one thing: the browser session names an API token and is good for every
page; the pass names a token and one profiler session, and is good for that one on the host where profiles are
shown; the hand-over brings the right to a pass from the one host to the other, for a minute. Each holds the
token's id and never the token. None is worth more than the token is at the moment of each request:
`principal_of` asks for it anew, so a revoked token ends all three at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from auth.identity import Principal, find_working_token
from auth.sealing import Fields, Seal

if TYPE_CHECKING:
    from auth.ports import TokenStore

LONGEST_PASS = timedelta(hours=8)
"""A day's work with one profile; the page asks for another pass by itself when it is loaded again."""
HAND_OVER_TIME = timedelta(seconds=60)
"""For one redirect, on a slow line and with clocks of front ends that differ."""
NO_TOKEN = ""
"""Stands for the id of a token where nobody needs one: on a development server."""


@dataclass(frozen=True)
class BrowserSession:
    """Somebody has signed in.

    Attributes:
        token_id: id of the API token that was shown.
        expires: first moment at which it is over (UTC, whole seconds).
    """

    token_id: str
    expires: datetime


@dataclass(frozen=True)
class SessionPass:
    """The right to look at one profiler session, and nothing else.

    Attributes:
        token_id: as `BrowserSession.token_id`.
        session_uid: identity of the profiler session.
        expires: first moment at which it opens nothing (UTC, whole seconds).
    """

    token_id: str
    session_uid: str
    expires: datetime


@dataclass(frozen=True)
class HandOver:
    """Becomes a pass on the other host, if it gets there in time.

    Attributes:
        granted: the pass.
        enter_by: first moment at which it is too late (UTC, whole seconds).
    """

    granted: SessionPass
    enter_by: datetime


class BrowserSeals:
    """Writes and reads the three texts; holds nothing but keys."""

    def __init__(self, secret: str) -> None:
        self._sessions = Seal(secret, "browser session 1")
        self._passes = Seal(secret, "session pass 1")
        self._hand_overs = Seal(secret, "hand-over 1")

    def write_session(self, session: BrowserSession) -> str:
        """A browser session as text."""
        return self._sessions.write(
            {"token": session.token_id, "expires": _seconds(session.expires)}
        )

    def read_session(self, text: str, now: datetime) -> BrowserSession | None:
        """The browser session of a text; None if it is over, or not ours."""
        fields = self._sessions.read(text)
        if fields is None:
            return None
        session = BrowserSession(str(fields["token"]), _moment(fields["expires"]))
        return session if now < session.expires else None

    def write_pass(self, granted: SessionPass) -> str:
        """A pass as text."""
        return self._passes.write(_pass_fields(granted))

    def read_pass(self, text: str, now: datetime) -> SessionPass | None:
        """The pass of a text; None if it is over, or not ours."""
        fields = self._passes.read(text)
        return _pass_of(fields, now) if fields is not None else None

    def write_hand_over(self, hand_over: HandOver) -> str:
        """A hand-over as text."""
        enter_by = _seconds(hand_over.enter_by)
        return self._hand_overs.write({**_pass_fields(hand_over.granted), "enterBy": enter_by})

    def read_hand_over(self, text: str, now: datetime) -> SessionPass | None:
        """The pass that a hand-over brings; None if it comes too late, or is not ours."""
        fields = self._hand_overs.read(text)
        if fields is None or now >= _moment(fields["enterBy"]):
            return None
        return _pass_of(fields, now)


def begin_session(
    store: TokenStore, secret: str, now: datetime, lifetime: timedelta
) -> BrowserSession | None:
    """The browser session of who shows an API token; None if that does not work.

    Ends with the token at the latest. What the token's role may look at is asked for elsewhere.
    """
    token = find_working_token(store, secret, now)
    if token is None:
        return None
    expires = min(now + lifetime, token.expires or now + lifetime)
    return BrowserSession(token.id, expires.replace(microsecond=0))


def hand_over(session: BrowserSession, session_uid: str, now: datetime) -> HandOver:
    """What lets the other host show one profiler session to whom this browser session belongs."""
    expires = min(session.expires, now + LONGEST_PASS)
    granted = SessionPass(session.token_id, session_uid, expires)
    return HandOver(granted, now + HAND_OVER_TIME)


def principal_of(store: TokenStore, token_id: str, now: datetime) -> Principal | None:
    """Who a browser session or a pass stands for, if its token still works."""
    token = store.find_token_by_id(token_id)
    if token is None or token.id != token_id or not token.works_at(now):
        return None
    return token.principal


def _pass_fields(granted: SessionPass) -> Fields:
    return {
        "token": granted.token_id,
        "session": granted.session_uid,
        "expires": _seconds(granted.expires),
    }


def _pass_of(fields: Fields, now: datetime) -> SessionPass | None:
    granted = SessionPass(str(fields["token"]), str(fields["session"]), _moment(fields["expires"]))
    return granted if now < granted.expires else None


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def _moment(seconds: str | int) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)
