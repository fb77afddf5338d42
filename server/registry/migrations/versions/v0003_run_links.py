"""Links to a whole run, and what a link shows first.

The columns have defaults in the database: a process of the version before still adds rows while the new one
starts. They are added in place, so that no link loses its session on the way. Alembic can't add a column with
a foreign key to SQLite in place; both databases understand the statement below.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds the columns."""
    op.execute(
        "ALTER TABLE links ADD COLUMN run_key INTEGER"
        " CONSTRAINT fk_links_run_key REFERENCES runs (key) ON DELETE SET NULL"
    )
    op.add_column("links", sa.Column("run_uid", _text, nullable=False, server_default=""))
    op.add_column("links", sa.Column("view", sa.JSON(), nullable=False, server_default="{}"))
    op.create_index("ix_links_run_key", "links", ["run_key"])
    op.create_index("ix_links_run_uid", "links", ["run_uid"])


def downgrade() -> None:
    """Drops the columns; links to runs stay as rows that open nothing.

    SQLite can't drop a column with a foreign key in place, so `run_key` stays there, unused.
    """
    op.drop_index("ix_links_run_uid", "links")
    op.drop_index("ix_links_run_key", "links")
    op.drop_column("links", "view")
    op.drop_column("links", "run_uid")
    if op.get_context().dialect.name != "sqlite":
        op.drop_column("links", "run_key")
