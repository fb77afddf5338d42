"""A link as the pages show it: what it opens, for whom, how long, and how often it was opened."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from auth.links import LinkAccess, RunTarget, ShareLink
from auth.sharing_rules import Breach, SharingRules
from server.registry.link_lists import ListedLink
from server.share_pages.targets import target_path, target_text
from server.xprof.views import in_words, stored_view

_BREACHES = {
    Breach.UNLISTED: "The sharing rules allow no unlisted links any more.",
    Breach.PASSWORD: "The sharing rules ask unlisted links for a password now.",
    Breach.REDACTED: "The sharing rules allow unlisted links with hidden names only.",
}


@dataclass(frozen=True)
class LinkLine:
    """A link in a list, or on its own page.

    Attributes:
        link: the link.
        target: `run/session`, or the run.
        target_path: path of the page about that, below the hub's prefix.
        is_run: whether it opens all sessions of a run.
        view: what it shows first, in words.
        state: in a word or two.
        kind: of the badge with the state.
        reason: a sentence about the state, where the word does not say all.
        ends: when it ends by itself: its own end, or the last one that the rules allow.
        opened: when it was opened last, or None.
        audience: whom it lets in.
    """

    link: ShareLink
    target: str
    target_path: str
    is_run: bool
    view: str
    state: str
    kind: str
    reason: str
    ends: datetime | None
    opened: datetime | None
    audience: str

    @property
    def is_active(self) -> bool:
        """Whether it opens something."""
        return self.state == "active"


def line_of(listed: ListedLink, rules: SharingRules, now: datetime) -> LinkLine:
    """A link at a moment (UTC), under the rules of that moment."""
    link = listed.link
    ends = rules.end_of(link.created, link.expires)
    state, kind, reason = _state(link, rules, ends, now)
    is_org = link.access is LinkAccess.ORG
    return LinkLine(
        link=link,
        target=target_text(link.target),
        target_path=target_path(link.target),
        is_run=isinstance(link.target, RunTarget),
        view=in_words(stored_view(link.view)),
        state=state,
        kind=kind,
        reason=reason,
        ends=ends,
        opened=listed.opened,
        audience="people who can sign in here" if is_org else "everybody who has it",
    )


def _state(
    link: ShareLink, rules: SharingRules, ends: datetime | None, now: datetime
) -> tuple[str, str, str]:
    if link.revoked is not None:
        return "revoked", "quiet", ""
    if ends is not None and now >= ends:
        is_own = ends == link.expires
        return "expired", "quiet", "" if is_own else "Older than the sharing rules allow."
    if link.most_opens is not None and link.opens >= link.most_opens:
        return "used up", "quiet", "It was opened as often as it may be."
    breach = rules.breach_by(link)
    if breach is not None:
        return "not allowed", "warn", _BREACHES[breach]
    return "active", "good", ""
