"""Alembic's entry: runs the migrations on the connection, and in the transaction, of `Database.migrate`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo

from server.registry.metadata import METADATA
from server.registry.versions import write_usable_from


def _after_step(
    ctx: MigrationContext,
    step: MigrationInfo,  # noqa: ARG001 - Alembic calls by these names
    heads: Collection[str],
    run_args: Mapping[str, object],  # noqa: ARG001
) -> None:
    assert ctx.connection is not None  # noqa: S101 - there are no migrations without a database here
    for head in heads:
        write_usable_from(ctx.connection, head)


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    on_version_apply=_after_step,
)
context.run_migrations()
