"""Which versions of XProf Hub may work on these tables.

Only a new table, so that processes of the version before go on. They would not start anew, as they refuse
every revision that they don't know.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

usable_from = "0009"

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds the table; its row is written after each migration, by `env.py`."""
    op.create_table(
        "usable_from",
        sa.Column("revision", _text, nullable=False),
        sa.PrimaryKeyConstraint("revision", name="pk_usable_from"),
    )


def downgrade() -> None:
    """Drops it."""
    op.drop_table("usable_from")
