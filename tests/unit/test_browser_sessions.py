"""What a browser keeps once somebody has signed in: how long each thing is good, and for what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from auth.browser_sessions import (
    HAND_OVER_TIME,
    LONGEST_PASS,
    BrowserSeals,
    BrowserSession,
    begin_session,
    hand_over,
    principal_of,
)
from auth.identity import ApiToken, Principal, Role, create_token

NOW = datetime(2026, 11, 30, 12, 0, 0, 500_000, UTC)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
SEALS = BrowserSeals("secret")


class Tokens:
    """API tokens in memory."""

    def __init__(self) -> None:
        self.kept: list[tuple[ApiToken, str]] = []

    def add_token(self, token: ApiToken, digest: str) -> None:
        self.kept.append((token, digest))

    def find_token(self, digest: str) -> tuple[ApiToken, str] | None:
        return next((pair for pair in self.kept if pair[1] == digest), None)

    def find_token_by_id(self, token_id: str) -> ApiToken | None:
        # As a collation that folds case would.
        return next((t for t, _ in self.kept if t.id.lower() == token_id.lower()), None)


def token(store: Tokens, lives: timedelta | None = None) -> tuple[ApiToken, str]:
    expires = NOW + lives if lives else None
    return create_token(
        store, name="ann", role=Role.VIEWER, creator="test", now=NOW, expires=expires
    )


def test_a_session_lasts_as_long_as_it_is_told() -> None:
    store = Tokens()
    made, secret = token(store)
    session = begin_session(store, secret, NOW, DAY)
    assert session == BrowserSession(made.id, NOW.replace(microsecond=0) + DAY)
    text = SEALS.write_session(session)
    assert secret not in text
    assert SEALS.read_session(text, session.expires - SECOND) == session
    assert SEALS.read_session(text, session.expires) is None
    assert BrowserSeals("other").read_session(text, NOW) is None


def test_a_session_ends_with_its_token_at_the_latest() -> None:
    store = Tokens()
    _, secret = token(store, lives=timedelta(hours=1))
    session = begin_session(store, secret, NOW, DAY)
    assert session is not None
    assert session.expires == NOW.replace(microsecond=0) + timedelta(hours=1)
    assert begin_session(store, secret, NOW + timedelta(hours=1), DAY) is None


def test_only_a_working_token_begins_one() -> None:
    store = Tokens()
    made, secret = token(store)
    for wrong in ("", secret[:-1], made.id, secret.upper()):
        assert begin_session(store, wrong, NOW, DAY) is None


def test_who_it_stands_for_is_asked_anew_each_time() -> None:
    store = Tokens()
    made, _ = token(store)
    assert principal_of(store, made.id, NOW) == Principal("ann", Role.VIEWER, f"token:{made.id}")
    changed = ApiToken(made.id, "ann", Role.ADMIN, NOW, None, None, "test")
    store.kept = [(changed, "")]
    assert principal_of(store, made.id, NOW) == Principal("ann", Role.ADMIN, f"token:{made.id}")
    store.kept = [(ApiToken(made.id, "ann", Role.ADMIN, NOW, None, NOW, "test"), "")]
    assert principal_of(store, made.id, NOW) is None
    store.kept = [(ApiToken("abcd", "ann", Role.ADMIN, NOW, None, None, "test"), "")]
    for other in ("", "ABCD", "abc"):
        assert principal_of(store, other, NOW) is None


def test_a_hand_over_is_good_for_a_minute_and_its_pass_for_hours() -> None:
    session = BrowserSession("t", NOW.replace(microsecond=0) + DAY)
    made = hand_over(session, "uid", NOW)
    text = SEALS.write_hand_over(made)
    granted = SEALS.read_hand_over(text, NOW + HAND_OVER_TIME - SECOND)
    assert granted is not None
    assert (granted.token_id, granted.session_uid) == ("t", "uid")
    assert NOW + LONGEST_PASS - SECOND < granted.expires <= NOW + LONGEST_PASS
    assert SEALS.read_hand_over(text, NOW + HAND_OVER_TIME) is None
    kept = SEALS.write_pass(granted)
    assert SEALS.read_pass(kept, granted.expires - SECOND) == granted
    assert SEALS.read_pass(kept, granted.expires) is None


def test_a_pass_ends_with_the_browser_session() -> None:
    session = BrowserSession("t", NOW.replace(microsecond=0) + timedelta(minutes=5))
    assert hand_over(session, "uid", NOW).granted.expires == session.expires


def test_each_text_is_good_for_one_thing() -> None:
    """The hand-over stands in an address for a moment: found there later, it must be no cookie."""
    session = BrowserSession("t", NOW.replace(microsecond=0) + DAY)
    made = hand_over(session, "uid", NOW)
    texts = [
        SEALS.write_session(session),
        SEALS.write_pass(made.granted),
        SEALS.write_hand_over(made),
    ]
    readers = [SEALS.read_session, SEALS.read_pass, SEALS.read_hand_over]
    for place, read in enumerate(readers):
        assert [read(text, NOW) is not None for text in texts] == [
            place == other for other in range(3)
        ]


@pytest.mark.parametrize("text", ["", "x", "é"])
def test_nonsense_is_nothing(text: str) -> None:
    assert SEALS.read_session(text, NOW) is None
    assert SEALS.read_pass(text, NOW) is None
    assert SEALS.read_hand_over(text, NOW) is None
