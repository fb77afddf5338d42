"""People, what they share and say, and how long things are kept.

New tables, and columns that have a default, so that processes of the version before go on while the new one
starts. They know no password, audience or redaction of a link: they should not go on for longer than that.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_text = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_moment = sa.DateTime(timezone=True)
_DELETED = ("runs", "sessions")


def upgrade() -> None:
    """Adds them."""
    _add_people()
    _add_said_and_done()
    _add_keeping()
    for table in _DELETED:
        op.add_column(
            table, sa.Column("is_held", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
        op.add_column(table, sa.Column("deleted", _moment, nullable=True))
        op.add_column(table, sa.Column("deleted_id", _text, server_default="", nullable=False))
        op.add_column(table, sa.Column("deleter", _text, server_default="", nullable=False))
        op.create_index(f"ix_{table}_deleted", table, ["deleted"])
    op.create_index("ix_operations_target", "operations", ["target"])
    op.add_column("runs", sa.Column("note", _text, server_default="", nullable=False))
    op.add_column("sessions", sa.Column("expires", _moment, nullable=True))
    op.add_column(
        "sessions", sa.Column("is_pinned", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.create_index("ix_sessions_expires", "sessions", ["expires"])
    op.add_column("links", sa.Column("access", _text, server_default="UNLISTED", nullable=False))
    op.add_column("links", sa.Column("password_hash", _text, server_default="", nullable=False))
    op.add_column("links", sa.Column("most_opens", sa.Integer(), nullable=True))
    op.add_column(
        "links", sa.Column("is_redacted", sa.Boolean(), server_default=sa.false(), nullable=False)
    )


def _add_people() -> None:
    op.create_table(
        "members",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("member", _text, nullable=False),
        sa.Column("role", _text, nullable=False),
        sa.Column("creator", _text, nullable=False),
        sa.Column("created", _moment, nullable=False),
        sa.Column("updated", _moment, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_members"),
        sa.UniqueConstraint("id", name="uq_members_id"),
        sa.UniqueConstraint("member", name="uq_members_member"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "browser_sessions",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("method", _text, nullable=False),
        sa.Column("subject", _text, nullable=False),
        sa.Column("name", _text, nullable=False),
        sa.Column("email", _text, nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("created", _moment, nullable=False),
        sa.Column("expires", _moment, nullable=False),
        sa.Column("ended", _moment, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_browser_sessions"),
        sa.UniqueConstraint("id", name="uq_browser_sessions_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_browser_sessions_expires", "browser_sessions", ["expires"])
    op.create_index("ix_browser_sessions_subject", "browser_sessions", ["subject"])
    op.create_table(
        "rules",
        sa.Column("name", _text, nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("updater", _text, nullable=False),
        sa.Column("updated", _moment, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_rules"),
    )


def _add_said_and_done() -> None:
    op.create_table(
        "audit_events",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("moment", _moment, nullable=False),
        sa.Column("actor", _text, nullable=False),
        sa.Column("actor_name", _text, nullable=False),
        sa.Column("action", _text, nullable=False),
        sa.Column("verb", _text, nullable=False),
        sa.Column("resource", _text, nullable=False),
        sa.Column("address", _text, nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("mark", _text, nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_audit_events"),
        sa.UniqueConstraint("id", name="uq_audit_events_id"),
        sa.UniqueConstraint("mark", name="uq_audit_events_mark"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_events_moment_key", "audit_events", ["moment", "key"])
    op.create_index("ix_audit_events_actor", "audit_events", ["actor"])
    op.create_index("ix_audit_events_resource", "audit_events", ["resource"])
    _refuse_changes_of_events()
    op.create_table(
        "comments",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("session_key", sa.Integer(), nullable=False),
        sa.Column("author", _text, nullable=False),
        sa.Column("author_name", _text, nullable=False),
        sa.Column("text", _text, nullable=False),
        sa.Column("view", sa.JSON(), nullable=False),
        sa.Column("created", _moment, nullable=False),
        sa.Column("updated", _moment, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_key"],
            ["sessions.key"],
            name="fk_comments_session_key_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("key", name="pk_comments"),
        sa.UniqueConstraint("id", name="uq_comments_id"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_comments_session_key_created_key", "comments", ["session_key", "created", "key"]
    )


def _refuse_changes_of_events() -> None:
    """Lets no statement change what the audit log says; deleting by age stays possible."""
    refusal = "audit events are never changed"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            "CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events "
            f"BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
        )
        return
    op.execute(
        "CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{refusal}'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events "
        "FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"
    )


def _add_keeping() -> None:
    op.create_table(
        "leftovers",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("locations", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_leftovers"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "run_groups",
        sa.Column("key", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", _text, nullable=False),
        sa.Column("session_days", sa.Integer(), nullable=True),
        sa.Column("is_held", sa.Boolean(), nullable=False),
        sa.Column("note", _text, nullable=False),
        sa.Column("updater", _text, nullable=False),
        sa.Column("updated", _moment, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_run_groups"),
        sa.UniqueConstraint("id", name="uq_run_groups_id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "summaries",
        sa.Column("session_key", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", _text, nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("host_count", sa.Integer(), nullable=False),
        sa.Column("total_bytes", sa.BigInteger(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("looked", _moment, nullable=False),
        sa.ForeignKeyConstraint(
            ["session_key"],
            ["sessions.key"],
            name="fk_summaries_session_key_sessions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("session_key", name="pk_summaries"),
    )


def downgrade() -> None:
    """Drops them."""
    for table in ("summaries", "run_groups", "leftovers", "comments", "audit_events", "rules"):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_audit_change()")
    op.drop_table("browser_sessions")
    op.drop_table("members")
    for column in ("is_redacted", "most_opens", "password_hash", "access"):
        op.drop_column("links", column)
    op.drop_index("ix_sessions_expires", "sessions")
    op.drop_column("sessions", "is_pinned")
    op.drop_column("sessions", "expires")
    op.drop_column("runs", "note")
    op.drop_index("ix_operations_target", "operations")
    for table in _DELETED:
        op.drop_index(f"ix_{table}_deleted", table)
        for column in ("deleter", "deleted_id", "deleted", "is_held"):
            op.drop_column(table, column)
