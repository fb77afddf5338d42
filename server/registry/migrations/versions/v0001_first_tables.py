"""First tables: runs, sessions, links and API tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

# Types are spelled out here and not taken from the models: this file describes the past.
_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_time = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Makes the tables."""
    _create_runs()
    _create_sessions()
    _create_links()
    _create_tokens()


def downgrade() -> None:
    """Drops the tables."""
    for table in ("api_tokens", "links", "sessions", "runs"):
        op.drop_table(table)


def _key() -> sa.Column[int]:
    return sa.Column("key", sa.Integer(), primary_key=True, autoincrement=True)


def _create_runs() -> None:
    op.create_table(
        "runs",
        _key(),
        sa.Column("id", _text, nullable=False),
        sa.Column("uid", _text, nullable=False),
        sa.Column("display_name", _text, nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("run_set", _text, nullable=False),
        sa.Column("configs", sa.JSON(), nullable=False),
        sa.Column("artifacts", sa.JSON(), nullable=False),
        sa.Column("creator", _text, nullable=False),
        sa.Column("created", _time, nullable=False),
        sa.Column("updated", _time, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_runs"),
        sa.UniqueConstraint("id", name="uq_runs_id"),
        sa.UniqueConstraint("uid", name="uq_runs_uid"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_runs_created_key", "runs", ["created", "key"])
    op.create_index("ix_runs_run_set", "runs", ["run_set"])


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        _key(),
        sa.Column("run_key", sa.Integer(), nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("uid", _text, nullable=False),
        sa.Column("display_name", _text, nullable=False),
        sa.Column("location", _text, nullable=False),
        sa.Column("expected_hosts", sa.Integer(), nullable=True),
        sa.Column("creator", _text, nullable=False),
        sa.Column("created", _time, nullable=False),
        sa.Column("updated", _time, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_sessions"),
        sa.ForeignKeyConstraint(
            ["run_key"], ["runs.key"], name="fk_sessions_run_key", ondelete="CASCADE"
        ),
        sa.UniqueConstraint("run_key", "id", name="uq_sessions_run_key_id"),
        sa.UniqueConstraint("uid", name="uq_sessions_uid"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sessions_run_key_created_key", "sessions", ["run_key", "created", "key"])


def _create_links() -> None:
    op.create_table(
        "links",
        _key(),
        sa.Column("id", _text, nullable=False),
        sa.Column("token_hash", _text, nullable=False),
        sa.Column("session_key", sa.Integer(), nullable=True),
        sa.Column("session_uid", _text, nullable=False),
        sa.Column("run", _text, nullable=False),
        sa.Column("session", _text, nullable=False),
        sa.Column("created", _time, nullable=False),
        sa.Column("expires", _time, nullable=True),
        sa.Column("revoked", _time, nullable=True),
        sa.Column("opens", sa.Integer(), nullable=False),
        sa.Column("opened", _time, nullable=True),
        sa.Column("note", _text, nullable=False),
        sa.Column("creator", _text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_links"),
        sa.ForeignKeyConstraint(
            ["session_key"], ["sessions.key"], name="fk_links_session_key", ondelete="SET NULL"
        ),
        sa.UniqueConstraint("id", name="uq_links_id"),
        sa.UniqueConstraint("token_hash", name="uq_links_token_hash"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_links_created_key", "links", ["created", "key"])
    op.create_index("ix_links_session_key", "links", ["session_key"])
    op.create_index("ix_links_session_uid", "links", ["session_uid"])


def _create_tokens() -> None:
    op.create_table(
        "api_tokens",
        _key(),
        sa.Column("id", _text, nullable=False),
        sa.Column("token_hash", _text, nullable=False),
        sa.Column("name", _text, nullable=False),
        sa.Column("role", _text, nullable=False),
        sa.Column("created", _time, nullable=False),
        sa.Column("expires", _time, nullable=True),
        sa.Column("revoked", _time, nullable=True),
        sa.Column("creator", _text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_api_tokens"),
        sa.UniqueConstraint("id", name="uq_api_tokens_id"),
        sa.UniqueConstraint("token_hash", name="uq_api_tokens_token_hash"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_api_tokens_created_key", "api_tokens", ["created", "key"])
