"""Share links as JSON, shared by the routes and the client."""

from __future__ import annotations

from pydantic import AwareDatetime, ConfigDict, Field

from server.schemas import ApiModel, Lifetime, Prose, State
from server.views import NewView, View


class NewLink(Lifetime):
    """What its maker says about a share link."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "ttl": "7d",
                "note": "for the review",
                "view": {"tool": "trace_viewer@", "startMs": 12.5, "endMs": 14},
            }
        }
    )

    note: Prose = ""
    view: NewView = NewView()


class ShareLink(ApiModel):
    """A share link, without its token."""

    name: str
    uid: str
    etag: str = ""
    session: str = ""
    """Resource name of the session that it opens; empty for a link to a run."""
    run: str = ""
    """Resource name of the run that it opens, with all sessions; empty for a link to one session."""
    state: State
    create_time: AwareDatetime
    expire_time: AwareDatetime | None
    revoke_time: AwareDatetime | None
    opens: int
    note: str
    creator: str
    view: View = View()
    """What it shows first."""


class CreatedLink(ShareLink):
    """A new share link: the only time that its address is told."""

    uri: str
    token: str


class ShareLinkList(ApiModel):
    """A page of share links."""

    share_links: list[ShareLink] = Field(default_factory=list)
    next_page_token: str = ""
