"""The tables about people: who may do what, who has signed in, what was done and said, what is allowed.

As `server.registry.models`: rows stay inside `server.registry`.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, BigInteger, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from server.registry.base import Base, ByteText, UtcTime
from server.registry.records import Json


class MemberRow(Base):
    """A person, group or domain that has a role here: `user:ann@example.org`, `group:x`, `domain:y`."""

    __tablename__ = "members"
    __table_args__ = ({"sqlite_autoincrement": True},)

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    member: Mapped[str] = mapped_column(ByteText, unique=True)
    role: Mapped[str] = mapped_column(ByteText)
    creator: Mapped[str] = mapped_column(ByteText)
    created: Mapped[datetime] = mapped_column(UtcTime)
    updated: Mapped[datetime] = mapped_column(UtcTime)
    version: Mapped[int] = mapped_column(default=1)


class BrowserSessionRow(Base):
    """Somebody who has signed in with a browser, until `expires` or `ended`."""

    __tablename__ = "browser_sessions"
    __table_args__ = (Index(None, "expires"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    method: Mapped[str] = mapped_column(ByteText)
    subject: Mapped[str] = mapped_column(ByteText, index=True)
    name: Mapped[str] = mapped_column(ByteText)
    email: Mapped[str] = mapped_column(ByteText)
    groups: Mapped[list[str]] = mapped_column(JSON)
    created: Mapped[datetime] = mapped_column(UtcTime)
    expires: Mapped[datetime] = mapped_column(UtcTime)
    ended: Mapped[datetime | None] = mapped_column(UtcTime)


class AuditRow(Base):
    """Something that was done; never changed, and deleted by age only."""

    __tablename__ = "audit_events"
    __table_args__ = (Index(None, "moment", "key"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    moment: Mapped[datetime] = mapped_column(UtcTime)
    actor: Mapped[str] = mapped_column(ByteText, index=True)
    actor_name: Mapped[str] = mapped_column(ByteText)
    action: Mapped[str] = mapped_column(ByteText)
    verb: Mapped[str] = mapped_column(ByteText)
    resource: Mapped[str] = mapped_column(ByteText, index=True)
    address: Mapped[str] = mapped_column(ByteText)
    details: Mapped[dict[str, Json]] = mapped_column(JSON)
    mark: Mapped[str | None] = mapped_column(ByteText, unique=True)


class CommentRow(Base):
    """What somebody said about a session, or about a view of it; goes with the session."""

    __tablename__ = "comments"
    __table_args__ = (Index(None, "session_key", "created", "key"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    session_key: Mapped[int] = mapped_column(ForeignKey("sessions.key", ondelete="CASCADE"))
    author: Mapped[str] = mapped_column(ByteText)
    author_name: Mapped[str] = mapped_column(ByteText)
    text: Mapped[str] = mapped_column(ByteText)
    view: Mapped[dict[str, str | float | list[str]]] = mapped_column(JSON)
    created: Mapped[datetime] = mapped_column(UtcTime)
    updated: Mapped[datetime] = mapped_column(UtcTime)
    version: Mapped[int] = mapped_column(default=1)


class RuleRow(Base):
    """What an admin allows and demands, one row for each kind of rules."""

    __tablename__ = "rules"

    name: Mapped[str] = mapped_column(ByteText, primary_key=True)
    value: Mapped[dict[str, Json]] = mapped_column(JSON)
    updater: Mapped[str] = mapped_column(ByteText)
    updated: Mapped[datetime] = mapped_column(UtcTime)
    version: Mapped[int] = mapped_column(default=1)


class RunGroupRow(Base):
    """What holds for all runs of a group; `id` is what their `run_set` says."""

    __tablename__ = "run_groups"
    __table_args__ = ({"sqlite_autoincrement": True},)

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    session_days: Mapped[int | None]
    is_held: Mapped[bool]
    note: Mapped[str] = mapped_column(ByteText)
    updater: Mapped[str] = mapped_column(ByteText)
    updated: Mapped[datetime] = mapped_column(UtcTime)
    version: Mapped[int] = mapped_column(default=1)


class SummaryRow(Base):
    """What is known of a session's files without asking the storage, and its first figures; goes with it."""

    __tablename__ = "summaries"

    session_key: Mapped[int] = mapped_column(
        ForeignKey("sessions.key", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    digest: Mapped[str] = mapped_column(ByteText)
    hosts: Mapped[list[dict[str, Json]]] = mapped_column(JSON)
    host_count: Mapped[int]
    total_bytes: Mapped[int] = mapped_column(BigInteger)
    figures: Mapped[dict[str, Json]] = mapped_column(JSON)
    details: Mapped[dict[str, Json]] = mapped_column(JSON)
    looked: Mapped[datetime] = mapped_column(UtcTime)
