"""Comments as pages show them: safe pieces of text, views in words, and what the reader may do with each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from auth.identity import Principal
from server.comments.rules import is_author, may_delete
from server.comments.text import Piece, RangeAddress, pieces_of
from server.registry.comments import Comment
from server.session_pages.addresses import SessionAddresses
from server.session_pages.tools import tool_title
from server.xprof.views import TRACE_TOOLS, View, in_words, query_of, stored_view

MOST_SHOWN = 20
"""Newest comments on the page about the session; all of them have a page of their own."""
_TRACE = "trace_viewer@"


@dataclass(frozen=True)
class CommentView:
    """One comment.

    Attributes:
        id: of the comment.
        author: name of who said it.
        pieces: the text.
        created: when it was said.
        is_changed: whether it was changed since.
        view: the view that it is about, in words; empty for the session as a whole.
        view_href: opens that view.
        href: where it is changed; empty for everybody but its author.
        delete_href: where it is deleted; empty for those who may not.
    """

    id: str
    author: str
    pieces: tuple[Piece, ...]
    created: datetime
    is_changed: bool
    view: str
    view_href: str
    href: str
    delete_href: str


@dataclass(frozen=True)
class CommentForm:
    """A comment that is being written.

    Attributes:
        action: where it goes.
        text: so far.
        query: the view that it is about, as XProf's address has it; empty for the session as a whole.
        view: the same in words.
        view_href: opens that view.
        problem: why it can't be taken in, in words.
    """

    action: str
    text: str = ""
    query: str = ""
    view: str = ""
    view_href: str = ""
    problem: str = ""


@dataclass(frozen=True)
class CommentsPart:
    """What was said of a session.

    Attributes:
        count: how many comments there are.
        shown: some of them, newest first.
        form: for another one, or None for those who may not say anything.
        all_href: the page of all.
        older_href: the next page; empty on the last one.
    """

    count: int
    shown: tuple[CommentView, ...] = field(default_factory=tuple)
    form: CommentForm | None = None
    all_href: str = ""
    older_href: str = ""


def comment_views(
    comments: Sequence[Comment], principal: Principal, session: str, addresses: SessionAddresses
) -> tuple[CommentView, ...]:
    """Comments for a reader.

    Args:
        comments: what was said.
        principal: who reads.
        session: resource name of the session.
        addresses: of the session's pages.
    """
    return tuple(_view(one, principal, session, addresses) for one in comments)


def comment_form(
    addresses: SessionAddresses, view: View, text: str = "", problem: str = ""
) -> CommentForm:
    """A form for a new comment about a view."""
    return CommentForm(
        action=addresses.comments,
        text=text,
        query=query_of(view),
        view=view_in_words(view),
        view_href=addresses.view(view),
        problem=problem,
    )


def view_in_words(view: View) -> str:
    """`Trace Viewer, host-0, 12.5-14 ms`; empty for an empty view."""
    tool = tool_title(view.tool) if view.tool else ""
    times = in_words(View(start_ms=view.start_ms, end_ms=view.end_ms))
    return ", ".join(part for part in (tool, *view.hosts, view.module, view.op, times) if part)


def _view(
    comment: Comment, principal: Principal, session: str, addresses: SessionAddresses
) -> CommentView:
    view, own = stored_view(comment.view), addresses.comment(comment.id)
    return CommentView(
        id=comment.id,
        author=comment.author_name,
        pieces=pieces_of(comment.text, _range_address(view, addresses)),
        created=comment.created,
        is_changed=comment.version > 1,
        view=view_in_words(view),
        view_href=addresses.view(view) if in_words(view) else "",
        href=own if is_author(principal, comment) else "",
        delete_href=f"{own}/delete" if may_delete(principal, comment, session) else "",
    )


def _range_address(view: View, addresses: SessionAddresses) -> RangeAddress:
    """Where a range that a comment mentions is shown: in the trace of the hosts that it is about."""

    def address(start: float, end: float) -> str:
        is_trace = view.tool in TRACE_TOOLS
        shown = View(
            tool=view.tool if is_trace else _TRACE,
            hosts=view.hosts if is_trace else [],
            start_ms=start,
            end_ms=end,
        )
        return addresses.view(shown)

    return address
