"""What the page of members shows, as values for its template; knows no request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from auth.browser_sessions import SignInMethod
from auth.identity import Role
from auth.members import Member
from server.registry.browser_sessions import SignedInPerson

ROLES = (
    (Role.VIEWER.value, "Viewer"),
    (Role.EDITOR.value, "Editor"),
    (Role.ADMIN.value, "Admin"),
)
"""What can be chosen."""
_ICONS = MappingProxyType({"user": "user", "group": "users", "domain": "globe"})
_BADGES = MappingProxyType({Role.ADMIN: "accent", Role.EDITOR: "good"})
_METHODS = MappingProxyType(
    {
        SignInMethod.TOKEN: "API token",
        SignInMethod.OIDC: "Provider",
        SignInMethod.IAP: "Google's proxy",
    }
)


@dataclass(frozen=True)
class MemberRow:
    """A member as the page shows it.

    Attributes:
        id: for its forms; empty for one that a setting names, which no form changes.
        kind: user, group or domain.
        name: what follows the kind.
        icon: of the kind.
        role: value of the role.
        badge: kind of the badge.
        creator: who added it.
        created: when, or None.
    """

    id: str
    kind: str
    name: str
    icon: str
    role: str
    badge: str
    creator: str = ""
    created: datetime | None = None


@dataclass(frozen=True)
class SignedInRow:
    """Somebody who has signed in.

    Attributes:
        subject: for the form.
        name: address, or what the API token is for.
        note: more to tell them apart by, or empty.
        method: by which way, in words.
        browsers: how many.
        latest: when the last of them signed in.
    """

    subject: str
    name: str
    note: str
    method: str
    browsers: int
    latest: datetime


@dataclass(frozen=True)
class MemberForm:
    """What somebody typed, and why it was refused.

    Attributes:
        problem: a sentence.
        member: of the form that adds one.
        role: likewise.
        changed: id of the member whose form it was; empty for the one that adds.
    """

    problem: str = ""
    member: str = ""
    role: str = Role.VIEWER.value
    changed: str = ""


def member_rows(members: Iterable[Member]) -> tuple[MemberRow, ...]:
    """The rows of members."""
    return tuple(
        _row(member.member, member.role, member.id, member.creator, member.created)
        for member in members
    )


def admin_rows(admins: Iterable[str]) -> tuple[MemberRow, ...]:
    """The rows of those that are admins by setting."""
    return tuple(_row(member, Role.ADMIN) for member in sorted(admins))


def signed_in_rows(people: Iterable[SignedInPerson]) -> tuple[SignedInRow, ...]:
    """The rows of who has signed in."""
    return tuple(
        SignedInRow(
            subject=one.subject,
            name=one.name or one.subject
            if one.method is SignInMethod.TOKEN
            else one.subject.removeprefix("user:"),
            note=one.subject if one.method is SignInMethod.TOKEN else one.name,
            method=_METHODS.get(one.method, one.method.value),
            browsers=one.browsers,
            latest=one.latest,
        )
        for one in people
    )


def _row(
    member: str,
    role: Role,
    member_id: str = "",
    creator: str = "",
    created: datetime | None = None,
) -> MemberRow:
    kind, _, name = member.partition(":")
    badge = _BADGES.get(role, "quiet")
    icon = _ICONS.get(kind, "user")
    return MemberRow(member_id, kind, name, icon, role.value, badge, creator, created)
