"""Queries on operations. Each function is one transaction."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.forgetting import forget_old
from server.registry.models import OperationRow
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.records import Operation

MOST_OF_A_TARGET = 1000
"""Newest operations on one run or session that are kept."""


def add_operation(
    database: Database,
    *,
    parent: str,
    verb: str,
    target: str,
    now: datetime,
    forget_before: datetime | None = None,
) -> Operation:
    """Notes a change that was made, and forgets some operations from before a moment."""
    row = OperationRow(
        id=f"operation-{uuid4().hex}",
        parent=parent,
        verb=verb,
        target=target,
        created=now,
    )
    with database.writing() as session:
        if forget_before is not None:
            forget_old(session, OperationRow, forget_before)
        session.add(row)
        session.flush()
        _forget_many(session, target)
    return _record(row)


def _forget_many(session: Session, target: str) -> None:
    """Keeps the newest operations of a target only; a job that changes it all day makes many."""
    of_target = select(OperationRow.key).where(OperationRow.target == target)
    first = of_target.order_by(OperationRow.key.desc()).offset(MOST_OF_A_TARGET).limit(1)
    newest_to_go = session.scalar(first)
    if newest_to_go is not None:
        session.execute(
            delete(OperationRow).where(
                OperationRow.target == target, OperationRow.key <= newest_to_go
            )
        )


def get_operation(database: Database, parent: str | None, operation_id: str) -> Operation:
    """The operation of this id below a parent, or below any (None).

    Raises:
        RegistryError: NOT_FOUND.
    """
    query = _below(parent).where(OperationRow.id == operation_id)
    with database.reading() as session:
        row = session.scalar(query)
        if row is None:
            raise _not_found(operation_id)
        return _record(row)


def list_operations(
    database: Database, parent: str | None, request: PageRequest
) -> Page[Operation]:
    """A page of a parent's operations, or of all (None); they are sorted by `created` only."""
    query = _below(parent)
    with database.reading() as session:
        rows, position = fetch_page(session, query, OperationRow.created, OperationRow.key, request)
        return Page(tuple(_record(row) for row in rows), position)


def delete_operation(database: Database, parent: str, operation_id: str) -> None:
    """Forgets an operation; what it did stays.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.writing() as session:
        removed = session.scalar(
            delete(OperationRow)
            .where(OperationRow.id == operation_id, OperationRow.parent == parent)
            .returning(OperationRow.key)
        )
        if removed is None:
            raise _not_found(operation_id)


def _below(parent: str | None) -> Select[OperationRow]:
    query = select(OperationRow)
    return query if parent is None else query.where(OperationRow.parent == parent)


def _not_found(operation_id: str) -> RegistryError:
    message = f"There is no operation {operation_id!r}; operations are kept a day."
    return RegistryError(RegistryProblem.NOT_FOUND, message)


def _record(row: OperationRow) -> Operation:
    return Operation(row.id, row.parent, row.verb, row.target, row.created)
