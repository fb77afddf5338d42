"""${message}."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}

# None while this only adds, so that versions before go on with the tables as this leaves them. Else the oldest
# revision whose code no longer needs what is taken away here: CONTRIBUTING.md, "Migrations".
usable_from = None


def upgrade() -> None:
    """Applies the change."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Takes the change back."""
    ${downgrades if downgrades else "pass"}
