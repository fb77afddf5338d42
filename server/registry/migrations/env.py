"""Alembic's entry: runs the migrations on the connection, and in the transaction, of `Database.migrate`."""

from __future__ import annotations

from alembic import context

from server.registry.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
context.run_migrations()
