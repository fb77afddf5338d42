"""Share links: a secret address that opens one session or all of one run, until it expires or is revoked.

Whoever holds the token may look, unless the link asks for more (`ShareLink.access`, a password). So the token
is shown once, when the link is made, and only its digest is kept. Resolving does the same work for every
token, known or not; who signs in and who knows a password is found out elsewhere.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from auth.tokens import hash_token, new_link_token, same_digest

if TYPE_CHECKING:
    from auth.ports import LinkStore
    from auth.sharing_rules import Breach, SharingRules

LONGEST_LIFETIME = timedelta(days=3660)
"""Ten years; whoever wants more wants a link that never expires."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LIFETIME = re.compile(r"([0-9]{1,10})([smhdw])")
_NO_DIGEST = "0" * 64

ViewState: TypeAlias = Mapping[str, str | float | Sequence[str]]
"""What a page shows first, by names that mean nothing here: kept with a link and given back."""


class LinkAccess(StrEnum):
    """Whom a link lets in."""

    UNLISTED = "UNLISTED"
    """Everybody who has it."""
    ORG = "ORG"
    """Those who have signed in here, too, and may look at sessions."""


@dataclass(frozen=True)
class SessionTarget:
    """One session.

    Attributes:
        run: id of the run.
        session: id of the session.
        uid: identity of the session; a new session of the same name has another.
    """

    run: str
    session: str
    uid: str


@dataclass(frozen=True)
class RunTarget:
    """A run with all sessions that it has at the moment of opening.

    Attributes:
        run: id of the run.
        uid: identity of the run; a new run of the same name has another.
    """

    run: str
    uid: str


LinkTarget: TypeAlias = SessionTarget | RunTarget


@dataclass(frozen=True)
class ShareLink:
    """A share link as it is stored; the token is not part of it.

    Attributes:
        id: public name of the link, not a secret.
        target: what it opens, and nothing else.
        created: when it was made (UTC).
        expires: first moment at which it no longer opens, or None for never.
        revoked: when it was revoked, or None.
        opens: how often it was opened.
        note: what its maker wrote about it.
        creator: name of the principal who made it.
        view: what it shows first; empty for what everybody sees first.
        access: whom it lets in.
        password_hash: of the password that it asks for (`auth.passwords`); empty for none.
        most_opens: how often it may be opened, or None for any number.
        is_redacted: whether it shows pseudonyms instead of the profile's names and texts.
    """

    id: str
    target: LinkTarget
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    opens: int
    note: str
    creator: str
    view: ViewState = field(default_factory=dict)
    access: LinkAccess = LinkAccess.UNLISTED
    password_hash: str = field(default="", repr=False)
    most_opens: int | None = None
    is_redacted: bool = False

    @property
    def has_password(self) -> bool:
        """Whether it asks for a password."""
        return bool(self.password_hash)


@dataclass(frozen=True)
class FoundLink:
    """A link as it is stored, with what is allowed now.

    Attributes:
        link: the link.
        digest: of its token.
        rules: what links may be at this moment.
    """

    link: ShareLink
    digest: str
    rules: SharingRules


@dataclass(frozen=True)
class Active:
    """The token opens this link, until the earlier of its own end and the last one that is allowed."""

    link: ShareLink


@dataclass(frozen=True)
class Forbidden:
    """The token belongs to a link that is not allowed any more."""

    breach: Breach


@dataclass(frozen=True)
class Expired:
    """The token belonged to a link whose time is over."""


@dataclass(frozen=True)
class Revoked:
    """The token belonged to a link that was revoked, or whose target was deleted."""


@dataclass(frozen=True)
class Unknown:
    """No link has this token."""


LinkOutcome: TypeAlias = Active | Expired | Revoked | Forbidden | Unknown


def create_link(
    store: LinkStore,
    *,
    target: LinkTarget,
    creator: str,
    now: datetime,
    expires: datetime | None,
    note: str = "",
    view: ViewState | None = None,
    access: LinkAccess = LinkAccess.UNLISTED,
    password_hash: str = "",
    most_opens: int | None = None,
    is_redacted: bool = False,
) -> tuple[ShareLink, str]:
    """Makes a link and returns it with its token, which can't be had a second time.

    Args:
        store: where to keep it.
        target: what it opens.
        creator: name of who makes it.
        now: the present time (UTC).
        expires: first moment at which it no longer opens; None for never.
        note: free text.
        view: what it shows first.
        access: as `ShareLink.access`.
        password_hash: as `ShareLink.password_hash`.
        most_opens: as `ShareLink.most_opens`.
        is_redacted: as `ShareLink.is_redacted`.

    Raises:
        ValueError: it would be expired at once.
        LookupError: the target does not exist.
    """
    if expires is not None and expires <= now:
        raise ValueError("A link can't expire in the past.")
    token = new_link_token()
    link = ShareLink(
        id=secrets.token_hex(8),
        target=target,
        created=now,
        expires=expires,
        revoked=None,
        opens=0,
        note=note,
        creator=creator,
        view=view or {},
        access=access,
        password_hash=password_hash,
        most_opens=most_opens,
        is_redacted=is_redacted,
    )
    return store.add_link(link, hash_token(token)), token


def resolve(store: LinkStore, token: str, now: datetime) -> LinkOutcome:
    """What a token opens at the moment `now` (UTC); opens are counted by `count_open`, not here."""
    digest = hash_token(token)
    found = store.find_link(digest)
    # The store's own comparison decides nothing: a collation that folds case would let a wrong digest in.
    if not same_digest(found.digest if found else _NO_DIGEST, digest) or found is None:
        return Unknown()
    link, rules = found.link, found.rules
    if link.revoked is not None:
        return Revoked()
    ends = rules.end_of(link.created, link.expires)
    if ends is not None and now >= ends:
        return Expired()
    breach = rules.breach_by(link)
    return Active(replace(link, expires=ends)) if breach is None else Forbidden(breach)


def count_open(store: LinkStore, link: ShareLink, now: datetime) -> bool:
    """Counts one opening of the link; False, and not counted, when it was opened as often as it may be."""
    return store.count_open(link.id, now)


def parse_lifetime(text: str) -> timedelta | None:
    """The time that `45s`, `30m`, `12h`, `7d` or `2w` says; None for `never`.

    Raises:
        ValueError: the text says nothing of the kind, no time at all, or more than ten years.
    """
    text = text.strip()
    if text == "never":
        return None
    found = _LIFETIME.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise ValueError(
            'Write a lifetime as a number and s, m, h, d or w, for example "7d", or "never".'
        )
    seconds = int(found[1]) * _UNITS[found[2]]
    if seconds > LONGEST_LIFETIME.total_seconds():
        raise ValueError('That is more than ten years; use "never".')
    return timedelta(seconds=seconds)
