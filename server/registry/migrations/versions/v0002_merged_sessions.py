"""Sessions that lie in several folders, and how far converting in advance has come.

The columns have defaults in the database: a process of the version before still adds rows while the new one
starts. They are added in place, because making the table anew would take the links off their sessions.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds the columns."""
    for name in ("more_locations", "merged_from"):
        op.add_column("sessions", sa.Column(name, sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("sessions", sa.Column("prewarm", _text, nullable=False, server_default=""))


def downgrade() -> None:
    """Drops the columns; what was merged keeps its first folder."""
    for name in ("prewarm", "merged_from", "more_locations"):
        op.drop_column("sessions", name)
