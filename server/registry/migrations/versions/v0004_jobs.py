"""What jobs tell of themselves: states, attempts, where they write; operations, and repeated requests.

The columns have defaults in the database and are added in place, for the reasons of version 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_moment = sa.DateTime(timezone=True)
_RUN_TEXTS = {"parent": "", "state": "ACTIVE", "storage_root": ""}
_RUN_JSON = {"tools": "[]", "workload": "{}", "warnings": "[]"}
_SESSION_TEXTS = {"kind": "ATTACHED", "state": "COMPLETE", "seen_digest": ""}
_SESSION_JSON = {"targets": "{}", "details": "{}"}
_MOMENTS = {"runs": ("ended", "seen"), "sessions": ("started", "ended", "seen_changed")}


def upgrade() -> None:
    """Adds the columns and tables."""
    _add_columns("runs", _RUN_TEXTS, _RUN_JSON)
    _add_columns("sessions", _SESSION_TEXTS, _SESSION_JSON)
    op.add_column("sessions", sa.Column("attempt", sa.Integer(), nullable=True))
    op.create_index("ix_runs_state", "runs", ["state"])
    op.create_index("ix_sessions_state", "sessions", ["state"])
    _create_attempts()
    _create_operations()
    _create_requests()


def downgrade() -> None:
    """Drops them."""
    for table in ("requests", "operations", "attempts"):
        op.drop_table(table)
    op.drop_index("ix_sessions_state", "sessions")
    op.drop_index("ix_runs_state", "runs")
    for name in ("attempt", *_MOMENTS["sessions"], *_SESSION_JSON, *_SESSION_TEXTS):
        op.drop_column("sessions", name)
    for name in (*_MOMENTS["runs"], *_RUN_JSON, *_RUN_TEXTS):
        op.drop_column("runs", name)


def _add_columns(table: str, texts: dict[str, str], documents: dict[str, str]) -> None:
    for name, default in texts.items():
        op.add_column(table, sa.Column(name, _text, nullable=False, server_default=default))
    for name, default in documents.items():
        op.add_column(table, sa.Column(name, sa.JSON(), nullable=False, server_default=default))
    for name in _MOMENTS[table]:
        op.add_column(table, sa.Column(name, _moment, nullable=True))


def _create_attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", _text, nullable=False),
        sa.Column("started", _moment, nullable=False),
        sa.Column("ended", _moment, nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_attempts"),
        sa.ForeignKeyConstraint(
            ["run_key"], ["runs.key"], name="fk_attempts_run_key", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("run_key", "number", name="uq_attempts_run_key_number"),
        sqlite_autoincrement=True,
    )


def _create_operations() -> None:
    op.create_table(
        "operations",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("parent", _text, nullable=False),
        sa.Column("verb", _text, nullable=False),
        sa.Column("target", _text, nullable=False),
        sa.Column("error", sa.JSON(), nullable=True),
        sa.Column("created", _moment, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_operations"),
        sa.UniqueConstraint("id", name="uq_operations_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_operations_created_key", "operations", ["created", "key"])


def _create_requests() -> None:
    op.create_table(
        "requests",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("mark", _text, nullable=False),
        sa.Column("fingerprint", _text, nullable=False),
        sa.Column("resource", _text, nullable=False),
        sa.Column("created", _moment, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_requests"),
        sa.UniqueConstraint("mark", name="uq_requests_mark"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_requests_created", "requests", ["created"])
