"""Links to a whole run, and what a link shows first.

The columns have defaults in the database: a process of the version before still adds rows while the new one
starts. `links` may be made anew for that, as alembic does on SQLite for a foreign key: no table refers to it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_KEPT = {"sqlite_autoincrement": True}
_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds the columns."""
    with op.batch_alter_table("links", table_kwargs=_KEPT) as links:
        links.add_column(sa.Column("run_key", sa.Integer(), nullable=True))
        links.add_column(sa.Column("run_uid", _text, nullable=False, server_default=""))
        links.add_column(sa.Column("view", sa.JSON(), nullable=False, server_default="{}"))
        links.create_foreign_key(
            "fk_links_run_key", "runs", ["run_key"], ["key"], ondelete="SET NULL"
        )
        links.create_index("ix_links_run_key", ["run_key"])
        links.create_index("ix_links_run_uid", ["run_uid"])


def downgrade() -> None:
    """Drops the columns; links to runs stay as rows that open nothing."""
    with op.batch_alter_table("links", table_kwargs=_KEPT) as links:
        links.drop_index("ix_links_run_uid")
        links.drop_index("ix_links_run_key")
        links.drop_constraint("fk_links_run_key", type_="foreignkey")
        links.drop_column("view")
        links.drop_column("run_uid")
        links.drop_column("run_key")
