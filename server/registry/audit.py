"""The audit log in SQL: events are added, read, and forgotten by age. Nothing here changes one.

The database itself refuses to change an event, too (a trigger of migration 0008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from sqlalchemy import bindparam, delete, select
from sqlalchemy.exc import IntegrityError

from server.registry.conditions import Columns, Condition, to_sql
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.people_models import AuditRow
from server.registry.records import Json

_BY_MARK = select(AuditRow.key).where(AuditRow.mark == bindparam("mark"))
"""Made once, because each opening of a link asks."""
_AT_ONCE = 1000

_COLUMNS: Columns = MappingProxyType(
    {
        "id": AuditRow.id,
        "moment": AuditRow.moment,
        "actor": AuditRow.actor,
        "actor_name": AuditRow.actor_name,
        "action": AuditRow.action,
        "verb": AuditRow.verb,
        "resource": AuditRow.resource,
        "address": AuditRow.address,
        "details": AuditRow.details,
    }
)


@dataclass(frozen=True)
class AuditEvent:
    """Something that was done.

    Attributes:
        id: names the event.
        moment: when it had been done (UTC).
        actor: `Principal.id` of who did it, `viewer:<hash>` of somebody unknown with a link, or `hub:<part>`.
        actor_name: for people.
        action: value of the `auth.policy.Action` that it needed; a word of ours for what needs none.
        verb: what was done of what the action allows, such as `create` or `delete`.
        resource: resource name of what it was done to; of a collection where it was done to several.
        address: network address that asked, as the hub saw it; of viewers nobody knows only the network.
        details: what else is worth knowing.
    """

    id: str
    moment: datetime
    actor: str
    actor_name: str
    action: str
    verb: str
    resource: str
    address: str
    details: Mapping[str, Json] = field(default_factory=dict)


def add_audit_event(database: Database, event: AuditEvent, mark: str | None = None) -> bool:
    """Adds an event; False when there is one with this mark already.

    Args:
        database: the registry.
        event: what was done.
        mark: names what is written down once only, however often it happens.
    """
    if mark is not None and _is_marked(database, mark):
        return False
    row = AuditRow(
        id=event.id,
        moment=event.moment,
        actor=event.actor,
        actor_name=event.actor_name,
        action=event.action,
        verb=event.verb,
        resource=event.resource,
        address=event.address,
        details=dict(event.details),
        mark=mark,
    )
    try:
        with database.writing() as session:
            session.add(row)
    except IntegrityError:
        # Two that are marked alike came in one moment.
        if mark is None or not _is_marked(database, mark):
            raise
        return False
    return True


def get_audit_event(database: Database, event_id: str) -> AuditEvent:
    """The event of this id.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.reading() as session:
        row = session.scalar(select(AuditRow).where(AuditRow.id == event_id))
    if row is None:
        raise RegistryError(RegistryProblem.NOT_FOUND, f"There is no audit event {event_id!r}.")
    return _record(row)


def list_audit_events(
    database: Database, request: PageRequest, condition: Condition | None = None
) -> Page[AuditEvent]:
    """A page of events by their moment."""
    query = select(AuditRow)
    if condition is not None:
        query = query.where(to_sql(condition, _COLUMNS))
    with database.reading() as session:
        rows, position = fetch_page(session, query, AuditRow.moment, AuditRow.key, request)
        return Page(tuple(_record(row) for row in rows), position)


def walk_audit_events(
    database: Database, condition: Condition | None, until: datetime
) -> Iterator[AuditEvent]:
    """All events up to a moment, oldest first; holds some of them at a time, and no connection between."""
    request = PageRequest(_AT_ONCE, descending=False)
    while True:
        page = list_audit_events(database, request, condition)
        for event in page.records:
            if event.moment > until:
                return
            yield event
        if page.next is None:
            return
        request = PageRequest(_AT_ONCE, descending=False, after=page.next)


def forget_audit_events(database: Database, before: datetime) -> int:
    """Removes all events from before a moment, some in each transaction; how many."""
    total = 0
    while True:
        with database.writing() as session:
            old = (
                select(AuditRow.key)
                .where(AuditRow.moment < before)
                .order_by(AuditRow.moment, AuditRow.key)
                .limit(_AT_ONCE)
                .with_for_update(skip_locked=True)
            )
            removed = session.scalars(
                delete(AuditRow).where(AuditRow.key.in_(old)).returning(AuditRow.key)
            ).all()
        total += len(removed)
        if len(removed) < _AT_ONCE:
            return total


def _is_marked(database: Database, mark: str) -> bool:
    with database.reading() as session:
        return session.scalar(_BY_MARK, {"mark": mark}) is not None


def _record(row: AuditRow) -> AuditEvent:
    return AuditEvent(
        id=row.id,
        moment=row.moment,
        actor=row.actor,
        actor_name=row.actor_name,
        action=row.action,
        verb=row.verb,
        resource=row.resource,
        address=row.address,
        details=row.details,
    )
