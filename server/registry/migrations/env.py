"""Alembic's entry: runs the migrations on the connection, and in the transaction, of `Database.migrate`."""

from __future__ import annotations

from alembic import context

from server.registry.metadata import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
context.run_migrations()
