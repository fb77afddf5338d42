"""Links to a whole run, and what a link shows first.

The columns have defaults in the database: a process of the version before still adds rows while the new one
starts. They are added in place, so that no link loses its session on the way.
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
    op.add_column("links", sa.Column("run_key", sa.Integer(), nullable=True))
    op.add_column("links", sa.Column("run_uid", _text, nullable=False, server_default=""))
    op.add_column("links", sa.Column("view", sa.JSON(), nullable=False, server_default="{}"))
    op.create_index("ix_links_run_key", "links", ["run_key"])
    op.create_index("ix_links_run_uid", "links", ["run_uid"])


def downgrade() -> None:
    """Drops the columns; links to runs stay as rows that open nothing."""
    op.drop_index("ix_links_run_uid", "links")
    op.drop_index("ix_links_run_key", "links")
    op.drop_column("links", "view")
    op.drop_column("links", "run_uid")
    op.drop_column("links", "run_key")
