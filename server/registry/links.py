"""Share links in SQL: implements `auth.ports.LinkStore`; lists, changes, ends them. No token comes here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy import FromClause, Row, Select, bindparam, or_, select, update
from sqlalchemy.orm import Session

from auth.links import FoundLink, LinkAccess, LinkTarget, RunTarget, SessionTarget, ShareLink
from server.registry.database import Database
from server.registry.errors import RegistryError, RegistryProblem
from server.registry.models import LinkRow, RunRow, SessionRow
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.people_models import RuleRow
from server.registry.requests import RepeatableRequest, claim
from server.registry.rules import SHARING, read_rules

LinkColumns: TypeAlias = LinkRow | Row[tuple[object, ...]]
"""A link's row, or its columns by their names."""

_LINKS: FromClause = LinkRow.__table__
_COUNT_OPEN = (
    update(LinkRow)
    .where(
        _LINKS.c.id == bindparam("link_id"),
        or_(_LINKS.c.most_opens.is_(None), _LINKS.c.opens < _LINKS.c.most_opens),
    )
    .values({_LINKS.c.opens: _LINKS.c.opens + 1, _LINKS.c.opened: bindparam("now")})
    .returning(_LINKS.c.key)
)
"""Made once, because each opening of a link asks. One statement, so that of those who come at once as many
count as are allowed."""


@dataclass(frozen=True)
class LinkChanges:
    """New values of what can be changed of a link: all of them."""

    note: str
    expires: datetime | None
    access: LinkAccess
    password_hash: str
    most_opens: int | None


def link_etag(link: ShareLink) -> str:
    """Names this state of a link; being opened does not change it."""
    moments = [moment and moment.timestamp() for moment in (link.expires, link.revoked)]
    rest = [link.id, link.note, link.access.value, link.password_hash, link.most_opens]
    return hashlib.sha256(json.dumps([moments, rest]).encode()).hexdigest()[:16]


class SqlLinkStore:
    """The links of one registry; holds nothing but the database.

    Args:
        database: the registry.
        request: noted with a link that is added, so that the same request does not make two.
    """

    def __init__(self, database: Database, request: RepeatableRequest | None = None) -> None:
        self._database = database
        self._request = request

    def add_link(self, link: ShareLink, digest: str) -> ShareLink:
        """Keeps a new link and returns it as stored.

        Raises:
            LookupError: the session or run that it opens does not exist.
            RegistryError: ALREADY_EXISTS, the same request made one in this moment.
        """
        with self._database.writing() as session:
            session.add(
                LinkRow(
                    id=link.id,
                    token_hash=digest,
                    **_target_columns(session, link.target),
                    created=link.created,
                    expires=link.expires,
                    revoked=link.revoked,
                    opens=link.opens,
                    note=link.note,
                    creator=link.creator,
                    view=dict(link.view),
                    access=link.access.value,
                    password_hash=link.password_hash,
                    most_opens=link.most_opens,
                    is_redacted=link.is_redacted,
                )
            )
            claim(session, self._request, link.id, link.created)
        return link

    def find_link(self, digest: str) -> FoundLink | None:
        """The link stored under this digest, expired and revoked ones too, with the rules of this moment."""
        query = (
            select(LinkRow, RuleRow.value)
            .outerjoin(RuleRow, RuleRow.name == SHARING)
            .where(LinkRow.token_hash == digest)
        )
        with self._database.reading() as session:
            found = session.execute(query).one_or_none()
            if found is None:
                return None
            return FoundLink(to_record(found[0]), found[0].token_hash, read_rules(found[1]))

    def count_open(self, link_id: str, now: datetime) -> bool:
        """Adds one to the link's opens, unless there are as many as there may be; whether it did."""
        with self._database.writing() as session:
            values = {"link_id": link_id, "now": now}
            return session.connection().execute(_COUNT_OPEN, values).first() is not None

    def get_link(self, link_id: str) -> ShareLink:
        """The link of this id.

        Raises:
            RegistryError: NOT_FOUND.
        """
        with self._database.reading() as session:
            return to_record(_row(session, link_id))

    def list_links(
        self,
        request: PageRequest,
        *,
        session_uid: str | None = None,
        run_uid: str | None = None,
        digest: str | None = None,
    ) -> Page[ShareLink]:
        """A page of links by their time of creation: of a session, to a whole run, of a token, or all."""
        query = select(LinkRow)
        if digest is not None:
            query = query.where(LinkRow.token_hash == digest)
        if session_uid is not None:
            query = query.where(LinkRow.session_uid == session_uid)
        if run_uid is not None:
            query = query.where(LinkRow.run_uid == run_uid)
        with self._database.reading() as session:
            rows, position = fetch_page(session, query, LinkRow.created, LinkRow.key, request)
            return Page(tuple(to_record(row) for row in rows), position)

    def revoke_link(self, link_id: str, now: datetime, etag: str | None = None) -> ShareLink:
        """Ends a link; a second time changes nothing, not even the time.

        Raises:
            RegistryError: NOT_FOUND, or ETAG_MISMATCH; nothing was changed.
        """
        with self._database.writing() as session:
            row = _locked_row(session, link_id, etag)
            row.revoked = row.revoked or now
            session.flush()
            return to_record(row)

    def change_link(
        self, link_id: str, decide: Callable[[ShareLink], LinkChanges], etag: str | None = None
    ) -> ShareLink:
        """Changes a link; what opens it counts from this moment.

        Args:
            link_id: which.
            decide: the new values, given the link as it is while nobody else changes it.
            etag: the state that is to be changed; None for any.

        Raises:
            RegistryError: NOT_FOUND, or ETAG_MISMATCH; nothing was changed.
        """
        with self._database.writing() as session:
            row = _locked_row(session, link_id, etag)
            changes = decide(to_record(row))
            row.note, row.expires = changes.note, changes.expires
            row.access, row.password_hash = changes.access.value, changes.password_hash
            row.most_opens = changes.most_opens
            session.flush()
            return to_record(row)


def _locked_row(session: Session, link_id: str, etag: str | None) -> LinkRow:
    """A link that nobody else changes meanwhile, if it is as the etag says.

    Raises:
        RegistryError: NOT_FOUND, or ETAG_MISMATCH.
    """
    row = _row(session, link_id, lock=True)
    if etag is not None and etag != link_etag(to_record(row)):
        raise RegistryError(
            RegistryProblem.ETAG_MISMATCH,
            f"Share link {link_id!r} was changed since you read it. Read it again.",
        )
    return row


def _row(session: Session, link_id: str, *, lock: bool = False) -> LinkRow:
    query = select(LinkRow).where(LinkRow.id == link_id)
    row = session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise RegistryError(RegistryProblem.NOT_FOUND, f"There is no share link {link_id!r}.")
    return row


def _target_columns(session: Session, target: LinkTarget) -> dict[str, str | int | None]:
    """Where a link's row says what it opens; locks that, so that it is not deleted in this moment.

    Raises:
        LookupError: it does not exist.
    """
    if isinstance(target, RunTarget):
        live = select(RunRow.key).where(RunRow.uid == target.uid, RunRow.deleted.is_(None))
        key = _locked(session, live)
        return {
            **{"run_key": key, "run_uid": target.uid, "run": target.run},
            **{"session_key": None, "session_uid": "", "session": ""},
        }
    key = _locked(
        session,
        select(SessionRow.key)
        .join(RunRow, RunRow.key == SessionRow.run_key)
        .where(
            SessionRow.uid == target.uid, SessionRow.deleted.is_(None), RunRow.deleted.is_(None)
        ),
    )
    return {
        **{"run_key": None, "run_uid": "", "run": target.run},
        **{"session_key": key, "session_uid": target.uid, "session": target.session},
    }


def _locked(session: Session, query: Select[int]) -> int:
    key = session.scalar(query.with_for_update(read=True, key_share=True))
    if key is None:
        raise LookupError("what the link should open does not exist")
    return key


def _target(row: LinkColumns) -> LinkTarget:
    if row.run_uid:
        return RunTarget(row.run, row.run_uid)
    return SessionTarget(row.run, row.session, row.session_uid)


def to_record(row: LinkColumns) -> ShareLink:
    """A row as a plain value; one whose target is gone counts as revoked."""
    # A link that was made in the very moment in which its target was deleted has lost it without having
    # been revoked; it must not open a successor of the same name.
    key = row.run_key if row.run_uid else row.session_key
    lost = key is None and row.revoked is None
    return ShareLink(
        id=row.id,
        target=_target(row),
        created=row.created,
        expires=row.expires,
        revoked=row.created if lost else row.revoked,
        opens=row.opens,
        note=row.note,
        creator=row.creator,
        view=row.view,
        access=LinkAccess(row.access),
        password_hash=row.password_hash,
        most_opens=row.most_opens,
        is_redacted=row.is_redacted,
    )
