"""Which token an API token was made with, and ends with.

Only a column that may be empty, so that processes of the version before go on while the new one starts.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Adds the column."""
    op.add_column("api_tokens", sa.Column("parent", _text, nullable=True))
    op.create_index("ix_api_tokens_parent", "api_tokens", ["parent"])


def downgrade() -> None:
    """Drops it."""
    op.drop_index("ix_api_tokens_parent", "api_tokens")
    op.drop_column("api_tokens", "parent")
