"""What the page's own scripts know of the link: the data block `xh-page` of the index.

Made of names that others chose. The template writes it with Jinja's `tojson`, which leaves no character that
HTML or JavaScript could take for an end (`<`, `>`, `&`, `'`, U+2028). This module knows no request, no link
and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"


@dataclass(frozen=True)
class SessionEntry:
    """One session that the reader may switch to.

    Attributes:
        id: the session's id.
        name: for people.
        href: path of its XProf, percent-encoded, with a slash at the end.
        created: when it was attached.
        is_current: whether this page shows it.
    """

    id: str
    name: str
    href: str
    created: datetime
    is_current: bool


@dataclass(frozen=True)
class SessionPages:
    """Where people who have signed in find more about the session: addresses, of the hub's own host.

    Attributes:
        about: the page about it.
        share: where links to it are made.
        comments: what was said of it.
        new_comment: where something is said; takes the view as XProf's query.
        comment_count: how many comments there are.
    """

    about: str
    share: str
    comments: str
    new_comment: str
    comment_count: int


@dataclass(frozen=True)
class PageData:
    """What the share bar shows.

    Attributes:
        run: the run's name for people.
        session: the session's name for people.
        hosts: how many hosts have a file.
        shared_by: who made the link; empty when the name would say nothing.
        expires: first moment at which the page no longer opens, or None for never.
        note: what the link's maker wrote about it.
        sessions: those of the run, newest first; empty unless the link opens the whole run.
        has_more_sessions: whether the run has others, which are not in `sessions`.
        view: what the link shows first, as the API names it; empty when it says nothing.
        is_redacted: whether the profile's own names and texts are pseudonyms.
        pages: None under a link, whose readers have no business there.
    """

    run: str
    session: str
    hosts: int
    shared_by: str = ""
    expires: datetime | None = None
    note: str = ""
    sessions: tuple[SessionEntry, ...] = ()
    has_more_sessions: bool = False
    view: Mapping[str, JsonValue] | None = None
    is_redacted: bool = False
    pages: SessionPages | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """As the scripts read it: names in camelCase, moments as ISO 8601 in UTC."""
        return {
            "run": self.run,
            "session": self.session,
            "hosts": self.hosts,
            "sharedBy": self.shared_by,
            "expires": _moment(self.expires) if self.expires else None,
            "note": self.note,
            "sessions": [_entry(entry) for entry in self.sessions],
            "moreSessions": self.has_more_sessions,
            "view": dict(self.view or {}),
            "redacted": self.is_redacted,
            "pages": _pages(self.pages) if self.pages else None,
        }


def _entry(entry: SessionEntry) -> JsonValue:
    return {
        "id": entry.id,
        "name": entry.name,
        "href": entry.href,
        "created": _moment(entry.created),
        "current": entry.is_current,
    }


def _pages(pages: SessionPages) -> JsonValue:
    return {
        "about": pages.about,
        "share": pages.share,
        "comments": pages.comments,
        "newComment": pages.new_comment,
        "commentCount": pages.comment_count,
    }


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
