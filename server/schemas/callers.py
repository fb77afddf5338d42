"""Who calls, as JSON."""

from __future__ import annotations

from auth.identity import Role
from server.schemas.base import ApiModel


class Caller(ApiModel):
    """Who calls, and how much it may do."""

    name: str
    """Shown as the creator of what it makes."""
    id: str = ""
    """Stays the same when the name changes: `user:ann@example.org`, `token:<id>`."""
    role: Role
    auth: str
    """How this hub finds out who calls; with `dev` everybody on its machine is its admin."""
