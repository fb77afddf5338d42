"""The audit log in both databases: what is added stays as it is, is found, walked, and forgotten by age."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from auth.tokens import new_api_token, new_link_token
from server.audit.log import AuditLog, hub_event, new_event
from server.filters import AUDIT_FIELDS, read_filter
from server.registry.audit import (
    AuditEvent,
    add_audit_event,
    forget_audit_events,
    list_audit_events,
    walk_audit_events,
)
from server.registry.database import Database
from server.registry.pages import PageRequest
from server.registry.people_models import AuditRow

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
EVENT = AuditEvent(
    id="e",
    moment=NOW,
    actor="user:ann@example.org",
    actor_name="Ann",
    action="links.create",
    verb="create",
    resource="shareLinks/0123",
    address="2001:db8::1",
    details={"target": "machineLearningRuns/r", "days": 7},
)


def event(number: int, **changes: str) -> AuditEvent:
    """An event whose moment is that many seconds after the first one."""
    changed: dict[str, Any] = {"moment": NOW + timedelta(seconds=number), **changes}
    return replace(EVENT, id=f"e{number}", **changed)


def found(database: Database, condition: str = "", size: int = 100) -> list[str]:
    """Ids of the events that a filter leaves, newest first."""
    page = list_audit_events(database, PageRequest(size), read_filter(condition, AUDIT_FIELDS))
    return [one.id for one in page.records]


def test_an_event_comes_back_as_it_was_and_no_statement_changes_it(database: Database) -> None:
    assert add_audit_event(database, EVENT)
    for statement in (
        "UPDATE audit_events SET actor = 'somebody else'",
        "UPDATE audit_events SET mark = NULL",
    ):
        with pytest.raises(DBAPIError, match="never changed"), database.writing() as session:
            session.execute(text(statement))
    assert list_audit_events(database, PageRequest(2)).records == (EVENT,)


def test_what_is_marked_is_written_down_once(database: Database) -> None:
    assert add_audit_event(database, event(1), mark="m")
    assert not add_audit_event(database, event(2), mark="m")
    assert add_audit_event(database, event(3), mark="n")
    assert add_audit_event(database, event(4))
    assert found(database) == ["e4", "e3", "e1"]


def test_events_are_found_by_each_field_and_in_pages(database: Database) -> None:
    add_audit_event(database, event(1))
    add_audit_event(database, event(2, actor="token:1", actor_name="ci", address="192.0.2.7"))
    add_audit_event(database, event(3, action="runs.write", verb="delete", resource="x/r"))
    for condition, expected in {
        'actor = "user:ann@example.org"': ["e3", "e1"],
        'actor = "token:*"': ["e2"],
        "actorName = ci": ["e2"],
        'action = "links.create"': ["e2", "e1"],
        'action = "links.*" AND actor = "user:*"': ["e1"],
        "verb = delete": ["e3"],
        'resource : "r"': ["e3", "e2", "e1"],
        'resource = "x/r"': ["e3"],
        'address = "192.0.2.7"': ["e2"],
        'createTime >= "2026-03-01T12:00:02.123456Z"': ["e3", "e2"],
        'createTime < "2026-03-01"': [],
        "details.days = 7": ["e3", "e2", "e1"],
        "details:missing": [],
        'name = "auditEvents/e2"': ["e2"],
    }.items():
        assert found(database, condition) == expected, condition
    first = list_audit_events(database, PageRequest(2))
    rest = list_audit_events(database, PageRequest(2, after=first.next))
    assert [one.id for one in (*first.records, *rest.records)] == ["e3", "e2", "e1"]
    assert rest.next is None


def test_all_events_up_to_a_moment_are_walked_and_old_ones_forgotten(database: Database) -> None:
    """More than are read, or removed, at a time."""
    numbers = range(2500)
    with database.writing() as session:
        session.add_all(
            AuditRow(
                id=f"e{number}",
                moment=NOW + timedelta(seconds=number),
                actor="a",
                actor_name="",
                action="x",
                verb="y" if number % 2 else "z",
                resource="r",
                address="",
                details={},
                mark=None,
            )
            for number in numbers
        )
    until = NOW + timedelta(seconds=2199)
    walked = [one.id for one in walk_audit_events(database, None, until)]
    assert walked == [f"e{number}" for number in range(2200)]
    condition = read_filter("verb = y", AUDIT_FIELDS)
    some = [one.id for one in walk_audit_events(database, condition, until)]
    assert some == [f"e{number}" for number in range(2200) if number % 2]
    assert forget_audit_events(database, NOW + timedelta(seconds=2498)) == 2498
    assert found(database) == ["e2499", "e2498"]
    assert forget_audit_events(database, NOW) == 0


def test_no_token_is_written_down_wherever_it_was(database: Database) -> None:
    secrets = [new_link_token(), new_api_token()]
    for secret in secrets:
        made = new_event(
            actor=f"user:{secret}",
            actor_name=secret,
            action="links.create",
            verb=secret,
            resource=f"shareLinks/{secret}",
            details={"note": secret, secret: [secret, {"deep": f"at {secret}!"}, 1, None, True]},
        )
        AuditLog(database).write(made)
    told = repr(list_audit_events(database, PageRequest(5)).records)
    assert told.count("xph_…") == told.count("xpa_…") == 8
    for secret in secrets:
        assert secret[4:] not in told


def test_what_the_hub_does_by_itself_names_its_part(database: Database) -> None:
    AuditLog(database).write(hub_event("prune", "sessions.write", "delete", "x/s", {"bytes": 7}))
    (told,) = list_audit_events(database, PageRequest(5)).records
    assert (told.actor, told.action, told.verb, told.resource) == (
        *("hub:prune", "sessions.write"),
        *("delete", "x/s"),
    )
    assert (told.address, told.details) == ("", {"bytes": 7})
    assert abs(told.moment - datetime.now(UTC)) < timedelta(minutes=1)


def test_an_event_that_the_database_refuses_goes_to_the_log_and_harms_nobody(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    with database.writing() as session:
        session.execute(text("DROP TABLE audit_events"))
    secret = new_api_token()
    made = new_event(
        actor="user:ann@example.org",
        actor_name="Ann",
        action="runs.write",
        verb="delete",
        resource="machineLearningRuns/r",
        details={"note": secret},
    )
    with caplog.at_level(logging.ERROR):
        AuditLog(database).write(made)
    (line,) = caplog.records
    told = vars(line)["audit_event"]
    assert (told["actor"], told["verb"]) == ("user:ann@example.org", "delete")
    assert told["resource"] == "machineLearningRuns/r"
    assert secret[4:] not in repr(vars(line))
