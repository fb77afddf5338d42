"""Browser sessions in the registry, on both databases: what one is worth at the moment, by one query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import event
from sqlalchemy.engine import Engine

from auth.browser_sessions import (
    BrowserSession,
    SignInMethod,
    principal_of,
    session_by_token,
    session_of_person,
)
from auth.identity import ApiToken, Role, create_token
from auth.members import KnownPerson, member_id
from server.registry.browser_sessions import SignedInPerson, SqlBrowserSessions
from server.registry.database import Database
from server.registry.members import add_member, change_role, memberships_of, remove_member
from server.registry.tokens import SqlTokenStore

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
ANN = KnownPerson("ann@example.org", "Ann", ("sre", "%", "x' OR 1=1"))


def add(database: Database, member: str, role: Role) -> None:
    add_member(database, member, role, "test", NOW)


def begin(database: Database, person: KnownPerson = ANN) -> BrowserSession:
    session = session_of_person(person, SignInMethod.OIDC, NOW, DAY)
    SqlBrowserSessions(database).add(session)
    return session


def role_of(database: Database, session: BrowserSession) -> Role | None:
    found = SqlBrowserSessions(database).find(session.id)
    assert found is not None
    assert found.session == session
    principal = principal_of(found, (), NOW)
    return principal.role if principal else None


def new_token(database: Database, role: Role) -> ApiToken:
    token, _ = create_token(
        SqlTokenStore(database), name="t", role=role, creator="test", now=NOW, expires=None
    )
    return token


def test_a_person_has_the_greatest_role_of_the_moment(database: Database) -> None:
    session = begin(database)
    assert role_of(database, session) is None
    for member, role in (
        ("user:bob@example.org", Role.ADMIN),
        ("group:other", Role.ADMIN),
        ("domain:example.com", Role.ADMIN),
    ):
        add(database, member, role)
    assert role_of(database, session) is None
    assert memberships_of(database, {"group:Other", "group:oth", "group:%", "group:other "}) == ()
    (other,) = memberships_of(database, {"group:other", "domain:x"})
    assert other.role is Role.ADMIN
    add(database, "domain:example.org", Role.VIEWER)
    assert role_of(database, session) is Role.VIEWER
    add(database, "group:x' OR 1=1", Role.EDITOR)
    assert role_of(database, session) is Role.EDITOR
    add(database, "user:ann@example.org", Role.VIEWER)
    assert role_of(database, session) is Role.EDITOR
    change_role(
        database,
        member_id("user:ann@example.org"),
        Role.ADMIN,
        etag=None,
        now=NOW,
        is_admin_set=False,
    )
    assert role_of(database, session) is Role.ADMIN
    remove_member(database, member_id("user:ann@example.org"), etag=None, is_admin_set=False)
    assert role_of(database, session) is Role.EDITOR


def test_a_token_is_no_person_and_a_person_no_token(database: Database) -> None:
    token = new_token(database, Role.VIEWER)
    add(database, f"group:{token.id}", Role.ADMIN)
    session = session_by_token(token, NOW, DAY)
    SqlBrowserSessions(database).add(session)
    assert role_of(database, session) is Role.VIEWER
    SqlTokenStore(database).revoke_token(token.id, NOW)
    assert role_of(database, session) is None


def test_what_it_is_worth_takes_one_query(database: Database) -> None:
    add(database, "group:sre", Role.VIEWER)
    session = begin(database)
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.lstrip().upper().startswith("SELECT"):
            asked.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        SqlBrowserSessions(database).find(session.id)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    # PostgreSQL is asked first whether a connection of the pool still lives.
    assert len([text for text in asked if "browser_sessions" in text]) == 1


def test_it_ends_once_and_alone_or_with_all_of_a_person(database: Database) -> None:
    sessions = SqlBrowserSessions(database)
    first, second, other = (
        begin(database),
        begin(database),
        begin(database, KnownPerson("b@c.d", "B")),
    )
    add(database, "domain:example.org", Role.VIEWER)
    add(database, "domain:c.d", Role.VIEWER)
    sessions.end(first.id, NOW + timedelta(minutes=1))
    sessions.end(first.id, NOW + timedelta(minutes=9))
    found = sessions.find(first.id)
    assert found is not None
    assert found.session.ended == NOW + timedelta(minutes=1)
    assert principal_of(found, (), NOW) is None
    assert role_of(database, second) is Role.VIEWER
    assert sessions.end_all_of(ANN.id, NOW) == 1
    assert sessions.end_all_of(ANN.id, NOW) == 0
    ended = sessions.find(second.id)
    assert ended is not None
    assert principal_of(ended, {ANN.id}, NOW) is None
    assert role_of(database, other) is Role.VIEWER


def test_who_has_signed_in_is_counted_by_person(database: Database) -> None:
    sessions = SqlBrowserSessions(database)
    begin(database)
    begin(database)
    sessions.end(begin(database).id, NOW)
    token = new_token(database, Role.VIEWER)
    later = NOW + timedelta(minutes=1)
    sessions.add(session_by_token(token, later, timedelta(hours=1)))
    assert sessions.signed_in_people(NOW, 10) == (
        SignedInPerson(token.id, "t", SignInMethod.TOKEN, 1, later),
        SignedInPerson(ANN.id, "Ann", SignInMethod.OIDC, 2, NOW),
    )
    assert sessions.signed_in_people(NOW + timedelta(hours=2), 10) == (
        SignedInPerson(ANN.id, "Ann", SignInMethod.OIDC, 2, NOW),
    )
    assert len(sessions.signed_in_people(NOW, 1)) == 1


def test_one_that_lasts_is_found_again_and_one_that_is_over_is_forgotten(
    database: Database,
) -> None:
    sessions = SqlBrowserSessions(database)
    first, second = begin(database), begin(database)
    until = NOW + DAY / 2
    assert sessions.find_current(SignInMethod.OIDC, ANN.id, until) == second
    assert sessions.find_current(SignInMethod.IAP, ANN.id, until) is None
    assert sessions.find_current(SignInMethod.OIDC, ANN.id, NOW + 2 * DAY) is None
    sessions.end(second.id, NOW)
    assert sessions.find_current(SignInMethod.OIDC, ANN.id, until) == first
    token = new_token(database, Role.VIEWER)
    sessions.add(session_by_token(token, first.expires, DAY))
    assert sessions.find(first.id) is None
    assert sessions.find("nonsense") is None
