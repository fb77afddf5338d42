"""Writes events to the audit log; no token ever gets into one.

What is written down has happened already. So a database that can't take an event undoes nothing: the event
goes to the hub's own log as an error, from where it can be taken over.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from sqlalchemy.exc import SQLAlchemyError

from auth.tokens import redact
from server.registry.audit import AuditEvent, add_audit_event
from server.registry.database import Database
from server.registry.records import Json

logger = logging.getLogger("xprof_hub.audit")


class AuditLog:
    """The audit log of one registry; may be used from several threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, event: AuditEvent, mark: str | None = None) -> None:
        """Writes an event down; blocks on the database, and never raises for it.

        Args:
            event: made by `new_event`.
            mark: names what is written down once only, however often it happens.
        """
        try:
            add_audit_event(self._database, event, mark)
        except SQLAlchemyError as problem:
            # The driver's own message repeats the row, which the log has in a better shape.
            told = {**asdict(event), "moment": event.moment.isoformat()}
            logger.error(
                "an audit event could not be written",
                extra={"audit_event": told, "problem": type(problem).__name__},
            )


def new_event(
    *,
    actor: str,
    actor_name: str,
    action: str,
    verb: str,
    resource: str,
    address: str = "",
    details: Mapping[str, Json] | None = None,
) -> AuditEvent:
    """An event of this moment, with every token in its texts taken out."""
    return AuditEvent(
        id=secrets.token_hex(8),
        moment=datetime.now(UTC),
        actor=redact(actor),
        actor_name=redact(actor_name),
        action=action,
        verb=redact(verb),
        resource=redact(resource),
        address=address,
        details={redact(key): _redacted(value) for key, value in (details or {}).items()},
    )


def hub_event(
    part: str, action: str, verb: str, resource: str, details: Mapping[str, Json] | None = None
) -> AuditEvent:
    """An event of what the hub does by itself.

    Args:
        part: which part of it, for example `prune`.
        action: value of the action that a person would have needed.
        verb: what was done.
        resource: resource name of what it was done to.
        details: what else is worth knowing.
    """
    return new_event(
        actor=f"hub:{part}",
        actor_name=f"XProf Hub ({part})",
        action=action,
        verb=verb,
        resource=resource,
        details=details,
    )


def _redacted(value: Json) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    if isinstance(value, dict):
        return {redact(key): _redacted(item) for key, item in value.items()}
    return value
