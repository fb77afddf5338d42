"""What a route tells the audit log of the request that it answers; `server.audit` writes it down.

A note is kept with the request, so that what failed is not written down as done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

from server.registry.records import Json


@dataclass(frozen=True)
class AuditNote:
    """What was done, where the path does not say it.

    Attributes:
        resource: resource name of what was made, changed or ended.
        details: what else is worth knowing later; never a token, a password or a profile's text.
    """

    resource: str
    details: Mapping[str, Json]


def note_audited(request: Request, resource: str, **details: Json) -> None:
    """Says what this request makes, changes or ends; a later note of the same request replaces it."""
    request.state.audit_note = AuditNote(resource, details)


def noted(request: Request) -> AuditNote | None:
    """What the route has said, if anything."""
    note = getattr(request.state, "audit_note", None)
    return note if isinstance(note, AuditNote) else None
