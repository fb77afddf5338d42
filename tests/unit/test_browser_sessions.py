"""What a browser keeps once somebody has signed in: how long each thing is good, and for what."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auth.browser_sessions import (
    GROUPS_TIME,
    HAND_OVER_TIME,
    LONGEST_PASS,
    BrowserSeals,
    FoundSession,
    SignInMethod,
    hand_over,
    principal_of,
    session_by_token,
    session_of_person,
)
from auth.identity import ApiToken, Principal, Role
from auth.members import KnownPerson, Membership

NOW = datetime(2026, 11, 30, 12, 0, 0, 500_000, UTC)
SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
SEALS = BrowserSeals("secret")
TOKEN = ApiToken("t", "ann", Role.VIEWER, NOW, None, None, "test")
SESSION = session_by_token(TOKEN, NOW, DAY)
ANN = KnownPerson("ann@example.org", "Ann", ("sre",))


def found(token: ApiToken | None) -> FoundSession:
    return FoundSession(SESSION, token, ())


def test_a_session_lasts_as_long_as_it_is_told() -> None:
    assert SESSION.expires == NOW.replace(microsecond=0) + DAY
    text = SEALS.write_session(SESSION)
    assert SEALS.read_session(text, SESSION.expires - SECOND) == SESSION.id
    assert SEALS.read_session(text, SESSION.expires) is None
    assert BrowserSeals("other").read_session(text, NOW) is None


def test_two_sessions_of_one_token_are_apart() -> None:
    assert session_by_token(TOKEN, NOW, DAY).id != SESSION.id


def test_a_session_ends_with_its_token_at_the_latest() -> None:
    short = replace(TOKEN, expires=NOW + timedelta(hours=1))
    session = session_by_token(short, NOW, DAY)
    assert session.expires == NOW.replace(microsecond=0) + timedelta(hours=1)


def test_who_it_stands_for_is_asked_anew_each_time() -> None:
    assert principal_of(found(TOKEN), (), NOW) == Principal("ann", Role.VIEWER, "token:t")
    admin = replace(TOKEN, role=Role.ADMIN)
    assert principal_of(found(admin), (), NOW) == Principal("ann", Role.ADMIN, "token:t")
    for ended in (replace(TOKEN, revoked=NOW), replace(TOKEN, id="T"), None):
        assert principal_of(found(ended), (), NOW) is None
    over = FoundSession(replace(SESSION, ended=NOW), TOKEN, ())
    assert principal_of(over, (), NOW) is None
    assert principal_of(found(TOKEN), (), SESSION.expires) is None


def test_a_person_is_what_the_members_say_at_the_moment() -> None:
    session = session_of_person(ANN, SignInMethod.OIDC, NOW, DAY)
    editor = FoundSession(session, None, (Membership("group:sre", Role.EDITOR),))
    ann = Principal("ann@example.org", Role.EDITOR, "user:ann@example.org")
    assert principal_of(editor, (), NOW) == ann
    assert principal_of(FoundSession(session, None, ()), (), NOW) is None
    by_setting = principal_of(FoundSession(session, None, ()), {"user:ann@example.org"}, NOW)
    assert by_setting == replace(ann, role=Role.ADMIN)
    # An API token of the same text as a person's id is no right of the person.
    assert principal_of(FoundSession(session, TOKEN, ()), (), NOW) is None


@pytest.mark.parametrize(
    ("members", "admins", "is_over"),
    [
        ({"group:sre": Role.EDITOR}, (), True),
        ({"group:sre": Role.EDITOR, "domain:example.org": Role.VIEWER}, (), True),
        ({"group:sre": Role.VIEWER, "user:ann@example.org": Role.EDITOR}, (), False),
        ({"group:sre": Role.EDITOR, "domain:example.org": Role.EDITOR}, (), False),
        ({"user:ann@example.org": Role.VIEWER}, (), False),
        ({}, ("group:sre",), True),
        ({"group:sre": Role.EDITOR}, ("user:ann@example.org",), False),
    ],
)
def test_a_role_by_a_group_is_asked_for_anew_each_day(
    members: dict[str, Role], admins: tuple[str, ...], is_over: bool
) -> None:
    """The provider tells groups at signing in only: whoever leaves one loses its role all the same."""
    session = session_of_person(ANN, SignInMethod.OIDC, NOW, 7 * DAY)
    kept = FoundSession(
        session, None, tuple(Membership(member, role) for member, role in members.items())
    )
    before = principal_of(kept, admins, NOW + GROUPS_TIME - SECOND)
    assert before is not None
    after = principal_of(kept, admins, NOW + GROUPS_TIME)
    assert after == (None if is_over else before)


def test_a_hand_over_is_good_for_a_minute_and_its_pass_for_hours() -> None:
    made = hand_over(SESSION, "uid", NOW)
    text = SEALS.write_hand_over(made)
    handed = SEALS.read_hand_over(text, NOW + HAND_OVER_TIME - SECOND)
    assert handed is not None
    granted = handed.granted
    assert (granted.browser_session, granted.session_uid) == (SESSION.id, "uid")
    assert NOW + LONGEST_PASS - SECOND < granted.expires <= NOW + LONGEST_PASS
    assert SEALS.read_hand_over(text, NOW + HAND_OVER_TIME) is None
    kept = SEALS.write_pass(granted)
    assert SEALS.read_pass(kept, granted.expires - SECOND) == granted
    assert SEALS.read_pass(kept, granted.expires) is None


def test_a_pass_ends_with_the_browser_session() -> None:
    session = session_by_token(TOKEN, NOW, timedelta(minutes=5))
    assert hand_over(session, "uid", NOW).granted.expires == session.expires


def test_each_text_is_good_for_one_thing() -> None:
    """The hand-over stands in an address for a moment: found there later, it must be no cookie."""
    made = hand_over(SESSION, "uid", NOW)
    texts = [
        SEALS.write_session(SESSION),
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
