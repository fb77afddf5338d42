"""Operations of a hub: what became of changes through the managed API."""

from __future__ import annotations

from collections.abc import Iterator

from server.client.paths import OPERATIONS, member_path
from server.client.transport import Transport
from server.schemas import Operation, OperationList


class Operations:
    """Reads operations, which a hub keeps for a day; every method raises `HubError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[Operation]:
        """All operations, newest first, page by page."""
        for page in self._transport.pages(OPERATIONS, OperationList):
            yield from page.operations

    def get(self, operation: str) -> Operation:
        """One operation.

        Raises:
            NotFoundError: there is none of this id, or no more.
        """
        return self._transport.get(member_path(OPERATIONS, operation), Operation)
