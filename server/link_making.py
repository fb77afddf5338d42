"""Making and changing share links within the sharing rules, for the API and for the pages alike.

What comes in has been read and checked for its form; whether the rules allow it is checked here, against the
same function that decides at each opening (`auth.sharing_rules`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from auth.links import (
    LinkAccess,
    LinkTarget,
    ShareLink,
    ViewState,
    create_link,
)
from auth.sharing_rules import Breach, SharingRules
from server.registry.database import Database
from server.registry.links import LinkChanges, SqlLinkStore
from server.registry.requests import RepeatableRequest
from server.registry.rules import get_sharing_rules

_REFUSALS: Mapping[Breach, tuple[str, str]] = MappingProxyType(
    {
        Breach.UNLISTED: (
            "access",
            "Links that let in everybody who has them are not allowed here. Make one for people who sign in.",
        ),
        Breach.PASSWORD: (
            "password",
            "A link that lets in everybody who has it must have a password here.",
        ),
        Breach.REDACTED: (
            "redacted",
            "A link that lets in everybody who has it must hide names here.",
        ),
    }
)


class LinkRefusedError(Exception):
    """The sharing rules don't allow a link like this.

    Attributes:
        field: what would have to be different, by the API's name of it.
        message: a sentence that says what is allowed.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


@dataclass(frozen=True)
class LinkWishes:
    """What its maker wants of a link.

    Attributes:
        expires: first moment at which it no longer opens; None for never.
        access: whom it lets in.
        password_hash: made by `auth.passwords.hash_password`; empty for no password.
        most_opens: how often it may be opened, or None for any number.
        is_redacted: whether it shows pseudonyms instead of the profile's names and texts.
        note: free text.
        view: what it shows first.
    """

    expires: datetime | None
    access: LinkAccess
    password_hash: str = ""
    most_opens: int | None = None
    is_redacted: bool = False
    note: str = ""
    view: ViewState = field(default_factory=dict)


def make_link(
    database: Database,
    target: LinkTarget,
    wishes: LinkWishes,
    *,
    creator: str,
    now: datetime,
    request: RepeatableRequest | None = None,
) -> tuple[ShareLink, str]:
    """Makes a link and returns it with its token, which can't be had a second time.

    Args:
        database: the registry.
        target: what it opens.
        wishes: what its maker wants.
        creator: name of the principal.
        now: UTC.
        request: noted with the link, so that the same request does not make two.

    Raises:
        LinkRefusedError: the sharing rules don't allow it; nothing was made.
        LookupError: the target was deleted in this moment.
        RegistryError: ALREADY_EXISTS, the same request made one in this moment.
    """
    require_allowed(wishes, get_sharing_rules(database).rules, target, now)
    return create_link(
        SqlLinkStore(database, request),
        target=target,
        creator=creator,
        now=now,
        expires=wishes.expires,
        note=wishes.note,
        view=wishes.view,
        access=wishes.access,
        password_hash=wishes.password_hash,
        most_opens=wishes.most_opens,
        is_redacted=wishes.is_redacted,
    )


def change_link(
    database: Database,
    link_id: str,
    decide: Callable[[ShareLink], LinkWishes],
    etag: str | None = None,
) -> ShareLink:
    """Changes a link; counts from this moment. What it shows first, and whether it hides names, stays.

    Args:
        database: the registry.
        link_id: which.
        decide: what is wanted of it, given the link as it is while nobody else changes it.
        etag: the state that is to be changed; None for any.

    Raises:
        LinkRefusedError: the sharing rules don't allow that; nothing was changed.
        RegistryError: NOT_FOUND, or ETAG_MISMATCH; nothing was changed.
    """
    rules = get_sharing_rules(database).rules

    def checked(old: ShareLink) -> LinkChanges:
        wishes = decide(old)
        require_allowed(wishes, rules, old.target, old.created)
        return LinkChanges(
            note=wishes.note,
            expires=wishes.expires,
            access=wishes.access,
            password_hash=wishes.password_hash,
            most_opens=wishes.most_opens,
        )

    return SqlLinkStore(database).change_link(link_id, checked, etag)


def require_allowed(
    wishes: LinkWishes, rules: SharingRules, target: LinkTarget, created: datetime
) -> None:
    """Refuses what the rules don't allow.

    Raises:
        LinkRefusedError: naming the first field at fault.
    """
    last = rules.last_end(created)
    if last is not None and (wishes.expires is None or wishes.expires > last):
        message = f"Links end after {rules.longest_days:g} days at the latest here."
        raise LinkRefusedError("expireTime", message)
    wanted = ShareLink(
        id="",
        target=target,
        created=created,
        expires=wishes.expires,
        revoked=None,
        opens=0,
        note=wishes.note,
        creator="",
        access=wishes.access,
        password_hash=wishes.password_hash,
        is_redacted=wishes.is_redacted,
    )
    breach = rules.breach_by(wanted)
    if breach is not None:
        raise LinkRefusedError(*_REFUSALS[breach])
