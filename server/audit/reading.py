"""What the audit log shows: events as the API and the page tell them, and all of them as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from fastapi.responses import StreamingResponse

from server.names import audit_event_name
from server.registry import audit
from server.registry.conditions import Condition
from server.registry.database import Database
from server.schemas.audit import AuditEvent

JSON_LINES = "application/x-ndjson"


def to_resource(event: audit.AuditEvent) -> AuditEvent:
    """An event as the API shows it."""
    return AuditEvent(
        name=audit_event_name(event.id),
        create_time=event.moment,
        actor=event.actor,
        actor_name=event.actor_name,
        action=event.action,
        verb=event.verb,
        resource=event.resource,
        address=event.address,
        details=dict(event.details),
    )


def export_response(database: Database, condition: Condition | None) -> StreamingResponse:
    """All events up to now as JSON lines, oldest first; sent as they are read, and never held together."""
    now = datetime.now(UTC)
    return StreamingResponse(
        _lines(database, condition, now),
        media_type=JSON_LINES,
        headers={
            "Content-Disposition": f'attachment; filename="audit-{now:%Y%m%dT%H%M%SZ}.jsonl"',
            "Cache-Control": "no-store",
        },
    )


def _lines(database: Database, condition: Condition | None, until: datetime) -> Iterator[str]:
    for event in audit.walk_audit_events(database, condition, until):
        yield to_resource(event).model_dump_json(by_alias=True) + "\n"
