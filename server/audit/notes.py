"""What a route tells the audit log of the request that it answers; `server.audit` writes it down.

A note is kept with the request, so that what failed is not written down as done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fastapi import Request

from auth.identity import Principal
from server.registry.records import Json


@dataclass(frozen=True)
class AuditNote:
    """What was done, where the path does not say it.

    Attributes:
        resource: resource name of what was made, changed or ended.
        verb: what was done, where neither method nor path says it; else empty.
        details: what else is worth knowing later; never a token, a password or a profile's text.
    """

    resource: str
    verb: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class AuditActor:
    """Who asks, and what for.

    Attributes:
        principal: who.
        action: value of the `auth.policy.Action` that was asked for.
    """

    principal: Principal
    action: str


def note_audited(request: Request, resource: str, *, verb: str = "", **details: Json) -> None:
    """Says what this request makes, changes or ends; a later note of the same request replaces it.

    Args:
        request: the request that is answered.
        resource: resource name.
        verb: what is done, such as `delete`; taken from method and path unless given.
        details: what else is worth knowing later.
    """
    request.state.audit_note = AuditNote(resource, verb, details)


def note_unchanged(request: Request) -> None:
    """Says that this request changes nothing, though its method could: no event is written."""
    request.state.audit_unchanged = True


def note_actor(request: Request, principal: Principal, action: str) -> None:
    """Says who asks and what for; whatever finds that out for a route calls this."""
    request.state.audit_actor = AuditActor(principal, action)


def noted(request: Request) -> AuditNote | None:
    """What the route has said, if anything."""
    note = getattr(request.state, "audit_note", None)
    return note if isinstance(note, AuditNote) else None


def noted_actor(request: Request) -> AuditActor | None:
    """Who asks; None where nobody had to say so."""
    actor = getattr(request.state, "audit_actor", None)
    return actor if isinstance(actor, AuditActor) else None


def is_unchanged(request: Request) -> bool:
    """Whether the route has said that it changes nothing."""
    return getattr(request.state, "audit_unchanged", False) is True
