"""Programs that wait to be let in by their persons.

Only a new table, so that processes of the version before go on while the new one starts.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_moment = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "device_codes",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("code_hash", _text, nullable=False),
        sa.Column("user_code", _text, nullable=False),
        sa.Column("client", _text, nullable=False),
        sa.Column("expires", _moment, nullable=False),
        sa.Column("state", _text, nullable=False),
        sa.Column("token_id", _text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_device_codes"),
        sa.UniqueConstraint("code_hash", name="uq_device_codes_code_hash"),
        sa.UniqueConstraint("user_code", name="uq_device_codes_user_code"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drops it."""
    op.drop_table("device_codes")
