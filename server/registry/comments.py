"""Queries on what people say about sessions. Each function is one transaction.

Who may change or delete a comment is decided by who calls (`server.comments.rules`): an author never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem, session_not_found
from server.registry.models import RunRow, SessionRow
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.people_models import CommentRow
from server.registry.records import etag_of
from server.registry.requests import RepeatableRequest, claim

MOST_COMMENTS = 1000
"""Of one session, so that nobody can fill the database by a session's page."""

StoredView = Mapping[str, str | float | list[str]]


@dataclass(frozen=True)
class Comment:
    """What somebody said about a session.

    Attributes:
        id: never used again.
        author: `Principal.id` of who said it; `author_name` is what they were called then.
        author_name: for people.
        text: plain, of several lines.
        view: the view of the session that it is about, as `server.xprof.views.View.to_stored` writes it.
        created: UTC.
        updated: UTC.
        version: counts the changes.
    """

    id: str
    author: str
    author_name: str
    text: str
    view: StoredView
    created: datetime
    updated: datetime
    version: int

    @property
    def etag(self) -> str:
        """Names this state of the comment."""
        return etag_of(self.id, self.version)


@dataclass(frozen=True)
class NewComment:
    """What somebody is about to say."""

    author: str
    author_name: str
    text: str
    view: StoredView = field(default_factory=dict)


def create_comment(
    database: Database,
    run_id: str,
    session_id: str,
    new: NewComment,
    *,
    now: datetime,
    request: RepeatableRequest | None = None,
) -> Comment:
    """Adds a comment to a session.

    Raises:
        RegistryError: NOT_FOUND (the session), FULL, or ALREADY_EXISTS (the same request made one in this
            moment).
    """
    with database.writing() as session:
        # Two that arrive at once are counted one after the other.
        key = session.scalar(
            _session_key(run_id, session_id).with_for_update(key_share=True, of=SessionRow)
        )
        if key is None:
            raise session_not_found(run_id, session_id)
        if _count(session, key) >= MOST_COMMENTS:
            raise RegistryError(
                RegistryProblem.FULL,
                f"This session has {MOST_COMMENTS} comments, the most that are kept. Delete some first.",
            )
        row = CommentRow(
            id=uuid4().hex,
            session_key=key,
            author=new.author,
            author_name=new.author_name,
            text=new.text,
            view=dict(new.view),
            created=now,
            updated=now,
            version=1,
        )
        session.add(row)
        claim(session, request, row.id, now)
        return _record(row)


def list_comments(
    database: Database, run_id: str, session_id: str, request: PageRequest
) -> Page[Comment]:
    """A page of a session's comments by their time of creation.

    Raises:
        RegistryError: NOT_FOUND (the session).
    """
    with database.reading() as session:
        key = _require_session(session, run_id, session_id)
        query = select(CommentRow).where(CommentRow.session_key == key)
        rows, position = fetch_page(session, query, CommentRow.created, CommentRow.key, request)
        return Page(tuple(_record(row) for row in rows), position)


def count_comments(database: Database, run_id: str, session_id: str) -> int:
    """How many comments a session has; 0 when there is no such session."""
    query = (
        select(func.count())
        .select_from(CommentRow)
        .where(CommentRow.session_key == _session_key(run_id, session_id).scalar_subquery())
    )
    with database.reading() as session:
        return session.scalar(query) or 0


def get_comment(database: Database, run_id: str, session_id: str, comment_id: str) -> Comment:
    """The comment of this id.

    Raises:
        RegistryError: NOT_FOUND.
    """
    with database.reading() as session:
        return _record(_row(session, run_id, session_id, comment_id))


def change_comment(
    database: Database,
    run_id: str,
    session_id: str,
    comment_id: str,
    text: str | None,
    *,
    etag: str | None,
    now: datetime,
) -> Comment:
    """Gives a comment another text; None leaves it as it is.

    Raises:
        RegistryError: NOT_FOUND or ETAG_MISMATCH; nothing was changed.
    """
    with database.writing() as session:
        row = _row(session, run_id, session_id, comment_id, lock=True)
        _require_etag(row, etag)
        if text is not None:
            row.text = text
            row.updated = now
            row.version += 1
            session.flush()
        return _record(row)


def delete_comment(
    database: Database, run_id: str, session_id: str, comment_id: str, *, etag: str | None
) -> None:
    """Deletes a comment for good.

    Raises:
        RegistryError: NOT_FOUND or ETAG_MISMATCH; nothing was changed.
    """
    with database.writing() as session:
        row = _row(session, run_id, session_id, comment_id, lock=True)
        _require_etag(row, etag)
        session.delete(row)


def _session_key(run_id: str, session_id: str) -> Select[int]:
    return (
        select(SessionRow.key)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(RunRow.id == run_id, SessionRow.id == session_id)
    )


def _require_session(session: Session, run_id: str, session_id: str) -> int:
    key = session.scalar(_session_key(run_id, session_id))
    if key is None:
        raise session_not_found(run_id, session_id)
    return key


def _count(session: Session, session_key: int) -> int:
    query = select(func.count()).select_from(CommentRow)
    return session.scalar(query.where(CommentRow.session_key == session_key)) or 0


def _row(
    session: Session, run_id: str, session_id: str, comment_id: str, *, lock: bool = False
) -> CommentRow:
    key = _require_session(session, run_id, session_id)
    query = select(CommentRow).where(CommentRow.session_key == key, CommentRow.id == comment_id)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        message = f"Session {session_id!r} has no comment {comment_id!r}."
        raise RegistryError(RegistryProblem.NOT_FOUND, message)
    return row


def _require_etag(row: CommentRow, etag: str | None) -> None:
    if etag is not None and etag != etag_of(row.id, row.version):
        raise RegistryError(
            RegistryProblem.ETAG_MISMATCH,
            "This comment was changed since you read it. Read it again.",
        )


def _record(row: CommentRow) -> Comment:
    return Comment(
        id=row.id,
        author=row.author,
        author_name=row.author_name,
        text=row.text,
        view=row.view,
        created=row.created,
        updated=row.updated,
        version=row.version,
    )
