"""How the page of the audit log says what is known of an event."""

from __future__ import annotations

from datetime import UTC, datetime

from server.audit.page import line_of
from server.registry.audit import AuditEvent


def test_details_are_told_in_words_and_not_as_a_program_has_them() -> None:
    event = AuditEvent(
        id="e",
        moment=datetime(2026, 1, 31, tzinfo=UTC),
        actor="user:ann@example.org",
        actor_name="Ann",
        action="groups.write",
        verb="update",
        resource="runGroups/llama",
        address="192.0.2.1",
        details={
            "held": True,
            "redacted": False,
            "sessionDays": None,
            "days": 3,
            "who": ["a", "b"],
        },
    )
    assert dict(line_of(event).details) == {
        "held": "yes",
        "redacted": "no",
        "sessionDays": "none",
        "days": "3",
        "who": "a, b",
    }
