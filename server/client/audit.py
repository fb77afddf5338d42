"""The audit log of a hub."""

from __future__ import annotations

from collections.abc import Iterator

from server.client.paths import AUDIT_EVENTS, member_path
from server.client.transport import Transport
from server.schemas.audit import AuditEvent, AuditEventList

NEWEST_FIRST, OLDEST_FIRST = "createTime desc", "createTime"


class Audit:
    """Reads what was done; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, condition: str = "", order: str = NEWEST_FIRST) -> Iterator[AuditEvent]:
        """Events, page by page.

        Args:
            condition: filter, for example `action = "links.create" AND createTime > "2026-01-31"`.
            order: `NEWEST_FIRST` or `OLDEST_FIRST`.
        """
        parameters = {"filter": condition, "orderBy": order}
        for page in self._transport.pages(AUDIT_EVENTS, AuditEventList, parameters):
            yield from page.audit_events

    def get(self, event: str) -> AuditEvent:
        """One event by its id."""
        return self._transport.get(member_path(AUDIT_EVENTS, event), AuditEvent)
