"""Comments as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints

from server.schemas import ApiModel, ListParameters, Prose, ServerSet
from server.xprof.views import NewView, View

LONGEST_COMMENT = 4000
"""Characters."""


def _plain(text: object) -> object:
    """The text without blanks around it, with one kind of line break; forms send two characters for one."""
    if not isinstance(text, str):
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _said(text: str) -> str:
    if not text:
        raise ValueError("Say something.")
    return text


CommentText = Annotated[Prose, BeforeValidator(_plain), AfterValidator(_said)]
"""A comment's text: plain, of several lines, not empty."""


class NewComment(ApiModel):
    """What somebody says about a session."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "text": "The all-reduce waits for host 3 here.",
                "view": {"tool": "trace_viewer@", "startMs": 12.5, "endMs": 14},
            }
        }
    )

    text: CommentText
    view: NewView = NewView()
    """The view of the session that it is about; empty for the session as a whole."""


class Comment(ServerSet):
    """A comment; `creator` is its author's name."""

    text: CommentText = ""
    """Plain text of at most 4000 characters."""
    view: View = View()
    """The view of the session that it is about."""
    author: str = ""
    """Server-set: who said it, as `/v1/caller` and the audit log name people and tokens."""
    dashboard_uri: str = ""
    """Server-set: opens that view for people who are signed in."""


class CommentList(ApiModel):
    """A page of a session's comments."""

    comments: list[Comment] = Field(default_factory=list)
    next_page_token: str = ""
    total_size: int = 0
    """How many comments the session has."""


class CommentListParameters(ListParameters):
    """Which page of a session's comments."""

    order_by: Annotated[str, StringConstraints(max_length=100)] = ""
    """`createTime`, and ` desc`; newest first unless set."""
