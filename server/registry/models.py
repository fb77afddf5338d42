"""The tables of runs, sessions, links and tokens.

Rows stay inside `server.registry`; everybody else gets the values of `registry.records`.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from server.registry.base import Base, ByteText, UtcTime
from server.registry.records import Json


class RunRow(Base):
    """A run; `key` never leaves the registry.

    One that was deleted and may still come back has `deleted`, and an id that no request can name: its own
    stands in `deleted_id` and is free for others.
    """

    __tablename__ = "runs"
    # Without this SQLite gives the key of a deleted last row to the next one.
    __table_args__ = (Index(None, "created", "key"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    uid: Mapped[str] = mapped_column(ByteText, unique=True)
    display_name: Mapped[str] = mapped_column(ByteText)
    labels: Mapped[dict[str, str]] = mapped_column(JSON)
    run_set: Mapped[str] = mapped_column(ByteText, index=True)
    configs: Mapped[dict[str, Json]] = mapped_column(JSON)
    artifacts: Mapped[dict[str, Json]] = mapped_column(JSON)
    parent: Mapped[str] = mapped_column(ByteText, server_default="")
    state: Mapped[str] = mapped_column(ByteText, server_default="ACTIVE", index=True)
    ended: Mapped[datetime | None] = mapped_column(UtcTime)
    seen: Mapped[datetime | None] = mapped_column(UtcTime)
    tools: Mapped[list[Json]] = mapped_column(JSON, server_default="[]")
    workload: Mapped[dict[str, Json]] = mapped_column(JSON, server_default="{}")
    storage_root: Mapped[str] = mapped_column(ByteText, server_default="")
    warnings: Mapped[list[str]] = mapped_column(JSON, server_default="[]")
    note: Mapped[str] = mapped_column(ByteText, server_default="")
    is_held: Mapped[bool] = mapped_column(server_default=false())
    deleted: Mapped[datetime | None] = mapped_column(UtcTime, index=True)
    deleted_id: Mapped[str] = mapped_column(ByteText, server_default="")
    deleter: Mapped[str] = mapped_column(ByteText, server_default="")
    creator: Mapped[str] = mapped_column(ByteText)
    created: Mapped[datetime] = mapped_column(UtcTime)
    updated: Mapped[datetime] = mapped_column(UtcTime)
    version: Mapped[int] = mapped_column(default=1)


class AttemptRow(Base):
    """One try of a job to finish a run; goes with its run."""

    __tablename__ = "attempts"
    __table_args__ = (UniqueConstraint("run_key", "number"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    run_key: Mapped[int] = mapped_column(ForeignKey("runs.key", ondelete="CASCADE"))
    number: Mapped[int]
    state: Mapped[str] = mapped_column(ByteText)
    started: Mapped[datetime] = mapped_column(UtcTime)
    ended: Mapped[datetime | None] = mapped_column(UtcTime)
    details: Mapped[dict[str, Json]] = mapped_column(JSON)


class SessionRow(Base):
    """A session of a run; goes with its run. Of deleted ones as `RunRow`."""

    __tablename__ = "sessions"
    __table_args__ = (
        UniqueConstraint("run_key", "id"),
        Index(None, "run_key", "created", "key"),
        {"sqlite_autoincrement": True},
    )

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    run_key: Mapped[int] = mapped_column(ForeignKey("runs.key", ondelete="CASCADE"))
    id: Mapped[str] = mapped_column(ByteText)
    uid: Mapped[str] = mapped_column(ByteText, unique=True)
    display_name: Mapped[str] = mapped_column(ByteText)
    location: Mapped[str] = mapped_column(ByteText)
    more_locations: Mapped[list[str]] = mapped_column(JSON, server_default="[]")
    expected_hosts: Mapped[int | None]
    merged_from: Mapped[list[dict[str, str]]] = mapped_column(JSON, server_default="[]")
    prewarm: Mapped[str] = mapped_column(ByteText, server_default="")
    kind: Mapped[str] = mapped_column(ByteText, server_default="ATTACHED")
    state: Mapped[str] = mapped_column(ByteText, server_default="COMPLETE", index=True)
    started: Mapped[datetime | None] = mapped_column(UtcTime)
    ended: Mapped[datetime | None] = mapped_column(UtcTime)
    targets: Mapped[dict[str, Json]] = mapped_column(JSON, server_default="{}")
    details: Mapped[dict[str, Json]] = mapped_column(JSON, server_default="{}")
    attempt: Mapped[int | None]
    seen_digest: Mapped[str] = mapped_column(ByteText, server_default="")
    seen_changed: Mapped[datetime | None] = mapped_column(UtcTime)
    expires: Mapped[datetime | None] = mapped_column(UtcTime, index=True)
    is_pinned: Mapped[bool] = mapped_column(server_default=false())
    is_held: Mapped[bool] = mapped_column(server_default=false())
    deleted: Mapped[datetime | None] = mapped_column(UtcTime, index=True)
    deleted_id: Mapped[str] = mapped_column(ByteText, server_default="")
    deleter: Mapped[str] = mapped_column(ByteText, server_default="")
    creator: Mapped[str] = mapped_column(ByteText)
    created: Mapped[datetime] = mapped_column(UtcTime)
    updated: Mapped[datetime] = mapped_column(UtcTime)
    version: Mapped[int] = mapped_column(default=1)


class LeftoverRow(Base):
    """Where files lie of a session that is gone for good, until `xprof-hub prune` has seen to them."""

    __tablename__ = "leftovers"
    __table_args__ = ({"sqlite_autoincrement": True},)

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    locations: Mapped[list[str]] = mapped_column(JSON)


class LinkRow(Base):
    """A share link; outlives its target, so that an old link is told from an unknown one.

    A link to a whole run has a `run_uid`, and no session. A version that knows no such links takes it for one
    that lost its session, and opens nothing.
    """

    __tablename__ = "links"
    __table_args__ = (Index(None, "created", "key"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    token_hash: Mapped[str] = mapped_column(ByteText, unique=True)
    session_key: Mapped[int | None] = mapped_column(
        ForeignKey("sessions.key", ondelete="SET NULL"), index=True
    )
    session_uid: Mapped[str] = mapped_column(ByteText, index=True)
    run_key: Mapped[int | None] = mapped_column(
        ForeignKey("runs.key", ondelete="SET NULL"), index=True
    )
    run_uid: Mapped[str] = mapped_column(ByteText, index=True, server_default="")
    run: Mapped[str] = mapped_column(ByteText)
    session: Mapped[str] = mapped_column(ByteText)
    created: Mapped[datetime] = mapped_column(UtcTime)
    expires: Mapped[datetime | None] = mapped_column(UtcTime)
    revoked: Mapped[datetime | None] = mapped_column(UtcTime)
    opens: Mapped[int] = mapped_column(default=0)
    opened: Mapped[datetime | None] = mapped_column(UtcTime)
    note: Mapped[str] = mapped_column(ByteText)
    creator: Mapped[str] = mapped_column(ByteText)
    view: Mapped[dict[str, str | float | list[str]]] = mapped_column(JSON, server_default="{}")
    access: Mapped[str] = mapped_column(ByteText, server_default="UNLISTED")
    password_hash: Mapped[str] = mapped_column(ByteText, server_default="")
    most_opens: Mapped[int | None]
    is_redacted: Mapped[bool] = mapped_column(server_default=false())


class TokenRow(Base):
    """An API token."""

    __tablename__ = "api_tokens"
    __table_args__ = (Index(None, "created", "key"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    token_hash: Mapped[str] = mapped_column(ByteText, unique=True)
    name: Mapped[str] = mapped_column(ByteText)
    role: Mapped[str] = mapped_column(ByteText)
    created: Mapped[datetime] = mapped_column(UtcTime)
    expires: Mapped[datetime | None] = mapped_column(UtcTime)
    revoked: Mapped[datetime | None] = mapped_column(UtcTime)
    creator: Mapped[str] = mapped_column(ByteText)
    parent: Mapped[str | None] = mapped_column(ByteText, index=True)


class OperationRow(Base):
    """What became of a change that a client may ask for later; kept a day."""

    __tablename__ = "operations"
    __table_args__ = (Index(None, "created", "key"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(ByteText, unique=True)
    parent: Mapped[str] = mapped_column(ByteText)
    verb: Mapped[str] = mapped_column(ByteText)
    target: Mapped[str] = mapped_column(ByteText, index=True)
    error: Mapped[dict[str, Json] | None] = mapped_column(JSON(none_as_null=True))
    """Always NULL; processes of the version before name the column while they go on."""
    created: Mapped[datetime] = mapped_column(UtcTime)


class RequestRow(Base):
    """A creation that its client may send again; kept a day."""

    __tablename__ = "requests"
    __table_args__ = (Index(None, "created"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    mark: Mapped[str] = mapped_column(ByteText, unique=True)
    fingerprint: Mapped[str] = mapped_column(ByteText)
    resource: Mapped[str] = mapped_column(ByteText)
    created: Mapped[datetime] = mapped_column(UtcTime)


class LookRow(Base):
    """Something in storage that is looked at again and again, and when next; see `registry.looks`."""

    __tablename__ = "looks"
    __table_args__ = (UniqueConstraint("kind", "subject"), {"sqlite_autoincrement": True})

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    kind: Mapped[str] = mapped_column(ByteText)
    subject: Mapped[str] = mapped_column(ByteText)
    place: Mapped[str] = mapped_column(ByteText, index=True)
    due: Mapped[datetime | None] = mapped_column(UtcTime, index=True)
    looked: Mapped[datetime | None] = mapped_column(UtcTime)
    unchanged: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    note: Mapped[dict[str, Json]] = mapped_column(JSON)


class LeaseRow(Base):
    """The right to do what one front end at a time does."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(ByteText, primary_key=True)
    holder: Mapped[str] = mapped_column(ByteText)
    until: Mapped[datetime] = mapped_column(UtcTime)


class DeviceCodeRow(Base):
    """A program that waits to be let in; see `auth.device_codes`."""

    __tablename__ = "device_codes"
    __table_args__ = ({"sqlite_autoincrement": True},)

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    code_hash: Mapped[str] = mapped_column(ByteText, unique=True)
    user_code: Mapped[str] = mapped_column(ByteText, unique=True)
    client: Mapped[str] = mapped_column(ByteText)
    expires: Mapped[datetime] = mapped_column(UtcTime)
    state: Mapped[str] = mapped_column(ByteText)
    token_id: Mapped[str] = mapped_column(ByteText)
