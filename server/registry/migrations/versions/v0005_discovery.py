"""What is looked at in storage and when, and who does so.

Only new tables, so that processes of the version before go on while the new one starts.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_moment = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the tables."""
    op.create_table(
        "looks",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("kind", _text, nullable=False),
        sa.Column("subject", _text, nullable=False),
        sa.Column("place", _text, nullable=False),
        sa.Column("due", _moment, nullable=True),
        sa.Column("looked", _moment, nullable=True),
        sa.Column("unchanged", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("note", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_looks"),
        sa.UniqueConstraint("kind", "subject", name="uq_looks_kind_subject"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_looks_place", "looks", ["place"])
    op.create_index("ix_looks_due", "looks", ["due"])
    op.create_table(
        "leases",
        sa.Column("name", _text, nullable=False),
        sa.Column("holder", _text, nullable=False),
        sa.Column("until", _moment, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )


def downgrade() -> None:
    """Drops them."""
    op.drop_table("leases")
    op.drop_table("looks")
