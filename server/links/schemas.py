"""Share links and the rules for them as JSON, shared by the routes and the client."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, JsonValue

from auth.links import LinkAccess
from auth.passwords import check_password
from auth.sharing_rules import Breach
from server.schemas import ApiModel, Lifetime, Line, Prose, State
from server.xprof.views import NewView, View

MOST_OPENS = 1_000_000
LONGEST_DAYS = 3660

Password = Annotated[str, AfterValidator(check_password)]
Opens = Annotated[int, Field(ge=1, le=MOST_OPENS)]
Days = Annotated[float, Field(ge=1 / 24, le=LONGEST_DAYS)]
"""An hour at least: a link is made to be sent to somebody."""


class NewLink(Lifetime):
    """What its maker says about a share link."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "ttl": "7d",
                "access": "UNLISTED",
                "note": "for the review",
                "view": {"tool": "trace_viewer@", "startMs": 12.5, "endMs": 14},
            }
        }
    )

    note: Prose = ""
    access: LinkAccess | None = None
    """Whom it lets in: everybody who has it, or only those who have signed in, too. As the hub's rules say,
    unless it is set."""
    password: Password | None = Field(default=None, repr=False)
    """What it asks for besides; never told again."""
    most_opens: Opens | None = None
    """How often it may be opened."""
    redacted: bool = False
    """Whether it shows pseudonyms instead of the profile's names and texts."""
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
    """When it ends: as its maker said, or earlier where the hub's rules say so."""
    revoke_time: AwareDatetime | None
    opens: int
    note: str
    creator: str
    access: LinkAccess = LinkAccess.UNLISTED
    has_password: bool = False
    most_opens: int | None = None
    redacted: bool = False
    forbidden: Breach | None = None
    """The rule that it breaks now, so that it opens nothing."""
    view: View = View()
    """What it shows first."""


class LinkChange(Lifetime):
    """What is changed of a share link; `redacted` and what it opens never change."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"ttl": "7d", "note": "until the release", "mostOpens": 20}}
    )

    note: Prose = ""
    access: LinkAccess | None = None
    password: Password | None = Field(default=None, repr=False)
    """Named in the mask and missing here: it asks for none any more."""
    most_opens: Opens | None = None
    etag: str = ""
    name: JsonValue = None
    uid: JsonValue = None
    session: JsonValue = None
    run: JsonValue = None
    state: JsonValue = None
    create_time: JsonValue = None
    revoke_time: JsonValue = None
    opens: JsonValue = None
    creator: JsonValue = None
    has_password: JsonValue = None
    redacted: JsonValue = None
    forbidden: JsonValue = None
    view: JsonValue = None


class CreatedLink(ShareLink):
    """A new share link: the only time that its address is told."""

    uri: str
    token: str


class ShareLinkList(ApiModel):
    """A page of share links."""

    share_links: list[ShareLink] = Field(default_factory=list)
    next_page_token: str = ""


class SharingRulesFields(ApiModel):
    """What an administrator decides on share links."""

    allow_unlisted: bool = True
    """Whether a link may let in everybody who has it."""
    longest_days: Days | None = None
    """Days after its creation at which every link ends; missing: no such end."""
    unlisted_needs_password: bool = False
    """Whether a link that lets in everybody who has it must ask for a password."""
    unlisted_redacted_only: bool = False
    """Whether such a link must show pseudonyms instead of the profile's names and texts."""
    default_access: LinkAccess = LinkAccess.UNLISTED
    """Whom a new link lets in, unless its maker says so."""
    default_days: Days | None = None
    """Days until a new link ends, unless its maker says so; missing: `XPROF_HUB_LINK_DAYS`."""


class SharingRules(SharingRulesFields):
    """The rules for share links, old ones too."""

    name: str = "sharingRules"
    etag: str = ""
    updater: Line = ""
    update_time: AwareDatetime | None = None


class SharingRulesChange(SharingRulesFields):
    """What is changed of the rules."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"allowUnlisted": False, "longestDays": 14}}
    )

    etag: str = ""
    name: JsonValue = None
    updater: JsonValue = None
    update_time: JsonValue = None
