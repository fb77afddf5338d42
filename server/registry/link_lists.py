"""Lists of links for people who manage them: searched, in pages, with the moment of the last opening."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, func, not_, or_, select

from auth.links import ShareLink
from server.registry.database import Database
from server.registry.links import to_record
from server.registry.models import LinkRow
from server.registry.pages import Page, PageRequest, fetch_page
from server.registry.wildcards import like


@dataclass(frozen=True)
class ListedLink:
    """A link in a list.

    Attributes:
        link: the link.
        opened: when it was opened last, or None.
    """

    link: ShareLink
    opened: datetime | None


@dataclass(frozen=True)
class LinkSearch:
    """Which links are wanted; all unless said otherwise.

    Attributes:
        creator: name of who made them; empty for anybody.
        is_active: whether they open something at `now`; None for both.
        text: part of the run's or session's id, or of the note.
        session_uid: identity of the session that they open.
        run_uid: identity of the run that they open as a whole.
        now: UTC.
        longest: after which every link ends, or None.
    """

    now: datetime
    creator: str = ""
    is_active: bool | None = None
    text: str = ""
    session_uid: str = ""
    run_uid: str = ""
    longest: timedelta | None = None


def search_links(database: Database, search: LinkSearch, request: PageRequest) -> Page[ListedLink]:
    """A page of links by their time of creation."""
    query = select(LinkRow).where(*_conditions(search))
    with database.reading() as session:
        rows, position = fetch_page(session, query, LinkRow.created, LinkRow.key, request)
        return Page(tuple(ListedLink(to_record(row), row.opened) for row in rows), position)


def get_listed_link(database: Database, link_id: str) -> ListedLink | None:
    """The link of this id, or None."""
    with database.reading() as session:
        row = session.scalar(select(LinkRow).where(LinkRow.id == link_id))
        return ListedLink(to_record(row), row.opened) if row else None


def _conditions(search: LinkSearch) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if search.creator:
        found.append(LinkRow.creator == search.creator)
    if search.session_uid:
        found.append(LinkRow.session_uid == search.session_uid)
    if search.run_uid:
        found.append(LinkRow.run_uid == search.run_uid)
    if search.text:
        part = ("", search.text, "")
        found.append(
            or_(
                *(
                    like(column.expression, part)
                    for column in (LinkRow.run, LinkRow.session, LinkRow.note)
                )
            )
        )
    if search.is_active is not None:
        active = _active(search)
        found.append(active if search.is_active else not_(active))
    return found


def _active(search: LinkSearch) -> ColumnElement[bool]:
    """True for links that open something as far as their row says; false for others, never unknown."""
    is_there = or_(LinkRow.run_key.is_not(None), LinkRow.session_key.is_not(None))
    is_in_time = func.coalesce(LinkRow.expires > search.now, True)
    has_openings = func.coalesce(LinkRow.opens < LinkRow.most_opens, True)
    parts = [LinkRow.revoked.is_(None), is_there, is_in_time, has_openings]
    if search.longest is not None:
        parts.append(LinkRow.created > search.now - search.longest)
    return and_(*parts)
