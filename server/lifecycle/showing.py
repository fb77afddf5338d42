"""What the API and the pages show of how long sessions and runs are kept, and who may hold them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from auth.identity import Principal
from auth.policy import Action, may
from server.http.error_table import FORBIDDEN
from server.http.errors import ApiError
from server.lifecycle.due import when_due
from server.registry.database import Database
from server.registry.keeping import keeping_of
from server.schemas import Run, Session
from server.settings import Settings

Resource = TypeVar("Resource", Run, Session)


def with_keeping(database: Database, shown: Sequence[Session]) -> list[Session]:
    """Sessions with when each is deleted by itself, or what keeps it. Asks the registry once."""
    known = keeping_of(database, [one.uid for one in shown])
    found = []
    for one in shown:
        if one.uid not in known:
            found.append(one)
            continue
        due = when_due(known[one.uid])
        kept = [reason.value for reason in due.kept] or None
        found.append(one.model_copy(update={"due_time": due.moment, "kept_because": kept}))
    return found


def with_purge_times(settings: Settings, shown: Sequence[Resource]) -> list[Resource]:
    """The same with until when deleted ones can come back."""
    return [
        one
        if one.delete_time is None
        else one.model_copy(update={"purge_time": purge_time(settings, one.delete_time)})
        for one in shown
    ]


def purge_time(settings: Settings, deleted: datetime) -> datetime:
    """From when on something that was deleted at a moment can be gone for good."""
    return deleted + timedelta(days=settings.delete_grace_days)


def require_may_hold(principal: Principal, resource: str, before: bool, after: bool | None) -> None:
    """Refuses a change that sets or lifts a legal hold, unless the principal may.

    Args:
        principal: who asks.
        resource: resource name of what is to be held or let go.
        before: whether it is held.
        after: whether it is to be; None where that is not asked.

    Raises:
        ApiError: 403.
    """
    is_changed = after is not None and after != before
    if is_changed and not may(principal, Action.HOLDS_MANAGE, resource):
        raise ApiError(
            FORBIDDEN,
            f"To set or lift a hold needs the permission {Action.HOLDS_MANAGE.value}, which admins have.",
        )
