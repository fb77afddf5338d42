"""What a migration takes away from programs that know only the tables before it.

Reads both states from the database itself, so that it doesn't matter by which means a migration changes them.
What it does to rows can't be seen here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, Inspector, inspect, text
from sqlalchemy.engine.interfaces import ReflectedColumn

_TRIGGERS = {
    "sqlite": "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal",
}


@dataclass(frozen=True)
class Column:
    """One column: its type in words, whether it may be null, and whether it fills itself."""

    kind: str
    is_nullable: bool
    has_default: bool


@dataclass(frozen=True)
class TableState:
    """One table: its columns, and in words what it refuses (keys, checks, triggers), with its columns."""

    columns: Mapping[str, Column]
    refusals: Mapping[str, tuple[str, ...]]


def read_tables(connection: Connection) -> dict[str, TableState]:
    """All tables of a database but Alembic's own."""
    found = inspect(connection)
    triggers = connection.execute(text(_TRIGGERS[connection.dialect.name])).all()
    tables = {}
    for name in set(found.get_table_names()) - {"alembic_version"}:
        refusals: dict[str, tuple[str, ...]] = dict(_keys(found, name))
        refusals |= {f"check {check['sqltext']}": () for check in found.get_check_constraints(name)}
        refusals |= {f"trigger {trigger}": () for trigger, table in triggers if table == name}
        columns = {column["name"]: _column(column) for column in found.get_columns(name)}
        tables[name] = TableState(columns, refusals)
    return tables


def _keys(found: Inspector, table: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    primary = found.get_pk_constraint(table)["constrained_columns"]
    yield f"primary key {primary}", tuple(primary)
    for unique in found.get_unique_constraints(table):
        yield f"unique {unique['column_names']}", tuple(unique["column_names"])
    for index in found.get_indexes(table):
        if index["unique"]:
            yield f"unique {index['column_names']}", tuple(map(str, index["column_names"]))
    for key in found.get_foreign_keys(table):
        columns = key["constrained_columns"]
        yield f"foreign key {columns} {key['referred_table']} {key['options']}", tuple(columns)


def _column(found: ReflectedColumn) -> Column:
    fills_itself = found.get("default") is not None or bool(found.get("autoincrement") is True)
    return Column(repr(found["type"]), found["nullable"], fills_itself)


def losses(before: Mapping[str, TableState], after: Mapping[str, TableState]) -> list[str]:
    """In words, what a program that knows only `before` can't do any more; empty when all goes on."""
    return [
        loss
        for name, old in sorted(before.items())
        for loss in (
            _table_losses(name, old, after[name]) if name in after else [f"{name} is gone"]
        )
    ]


def _table_losses(name: str, old: TableState, new: TableState) -> Iterator[str]:
    yield from _changed_columns(name, old, new)
    for column in new.columns.keys() - old.columns.keys():
        added = new.columns[column]
        if not added.is_nullable and not added.has_default:
            yield f"{name}.{column} has to be filled"
    for refusal in sorted(new.refusals.keys() - old.refusals.keys()):
        if not _is_never_met(new.refusals[refusal], old, new):
            yield f"{name} has a new {refusal}"
    for refusal in sorted(old.refusals.keys() - new.refusals.keys()):
        # ON DELETE CASCADE, or a unique name that a creation relies on.
        yield f"{name} lacks its {refusal}"


def _changed_columns(name: str, old: TableState, new: TableState) -> Iterator[str]:
    for column, was in old.columns.items():
        now = new.columns.get(column)
        if now is None:
            yield f"{name}.{column} is gone"
            continue
        if now.kind != was.kind:
            yield f"{name}.{column} has another type"
        if now.is_nullable != was.is_nullable:
            # Either way: one refuses what was written, the other gives back what was never read.
            yield f"{name}.{column} may be null, or not any more"
        if was.has_default and not now.has_default:
            yield f"{name}.{column} has no default any more"


def _is_never_met(columns: tuple[str, ...], old: TableState, new: TableState) -> bool:
    """Whether a key is about new columns alone, which a program that doesn't know them leaves null."""
    added = [new.columns[column] for column in columns if column not in old.columns]
    return (
        0 < len(added) == len(columns)
        and all(column.is_nullable for column in added)
        and not any(column.has_default for column in added)
    )
