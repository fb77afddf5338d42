"""Who has which role: people by their e-mail address, groups by name, domains; the greatest role counts.

A member is written `user:ann@example.org`, `group:sre` or `domain:example.org`. Nobody has a role who is not
named here, by a setting or by an admin: there is no role for everybody.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from auth.identity import Principal, Role

LONGEST_MEMBER = 400
"""Characters; an address has at most 254 (RFC 5321), and a provider's group may be a path."""
_RANK = (Role.VIEWER, Role.EDITOR, Role.ADMIN)


class MemberKind(StrEnum):
    """What a role is given to."""

    USER = "user"
    GROUP = "group"
    """As the provider's claim of groups names it (`XPROF_HUB_OIDC_GROUPS_CLAIM`)."""
    DOMAIN = "domain"
    """What follows the `@`, exactly: a part of a domain is another domain."""


@dataclass(frozen=True)
class Membership:
    """A member and its role, as far as it matters for who may do what."""

    member: str
    role: Role


@dataclass(frozen=True)
class Member:
    """A member as it is stored.

    Attributes:
        id: made from `member`, see `member_id`.
        member: `user:`, `group:` or `domain:` and a name.
        role: viewer, editor or admin.
        creator: name of who added it.
        created: when (UTC).
        updated: when its role was last changed (UTC).
        version: grows with each change.
    """

    id: str
    member: str
    role: Role
    creator: str
    created: datetime
    updated: datetime
    version: int = 1


@dataclass(frozen=True)
class KnownPerson:
    """Somebody whom another party has vouched for.

    Attributes:
        email: verified address, in lower case.
        name: for people; the address when the other party tells none.
        groups: names of groups, as the other party tells them.
    """

    email: str
    name: str
    groups: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Id of the principal: stays the same when the name changes."""
        return f"{MemberKind.USER}:{self.email}"


def read_member(text: str) -> str:
    """The one spelling of a member; a bare address is a user's.

    Raises:
        ValueError: with a sentence that says what is wrong.
    """
    kind, colon, name = text.strip().partition(":")
    if not colon:
        kind, name = MemberKind.USER.value, kind
    if kind not in set(MemberKind):
        raise ValueError(
            "A member is user:, group: or domain: and a name, as in user:ann@example.org."
        )
    name = name.strip()
    if not name or len(name) > LONGEST_MEMBER or not _is_plain(name):
        raise ValueError("A member's name is one line and not empty.")
    if kind == MemberKind.USER:
        name = read_email(name)
    if kind == MemberKind.DOMAIN:
        name = _read_domain(name)
    return f"{kind}:{name}"


def read_email(text: object) -> str:
    """An e-mail address as it is compared: in lower case.

    Args:
        text: what somebody typed, or another party sent.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(text, str):
        raise ValueError("This is no text.")
    address = unicodedata.normalize("NFC", text.strip()).lower()
    # The sign for kelvin becomes a plain k, so another mailbox would pass for kate@example.org.
    is_changed = any(_becomes_ascii(character) for character in text.strip())
    local, at, domain = address.rpartition("@")
    # Another @ can stand in quotes (RFC 5321), and then tools differ in what the domain is.
    is_one = bool(local and at and domain) and "@" not in local and " " not in address
    if not is_one or is_changed or len(address) > LONGEST_MEMBER or not _is_plain(address):
        raise ValueError("This is no e-mail address, which looks like ann@example.org.")
    return address


def member_id(member: str) -> str:
    """Id of a member's resource: a name may hold slashes, which no path can carry safely."""
    return hashlib.sha256(member.encode()).hexdigest()[:16]


def principal_of_person(
    person: KnownPerson, memberships: Iterable[Membership], admins: Collection[str]
) -> Principal | None:
    """Who a person is here; None for somebody without a role.

    Args:
        person: whom another party vouches for.
        memberships: those that may be about the person; others are passed over.
        admins: members that are admins by setting.
    """
    names = members_for(person)
    if names & set(admins):
        return Principal(person.email, Role.ADMIN, person.id)
    roles = [entry.role for entry in memberships if entry.member in names]
    if not roles:
        return None
    return Principal(person.email, max(roles, key=_RANK.index), person.id)


def members_for(person: KnownPerson) -> frozenset[str]:
    """Every member that a person is."""
    domain = person.email.rpartition("@")[2]
    groups = (f"{MemberKind.GROUP}:{group}" for group in person.groups)
    return frozenset({person.id, f"{MemberKind.DOMAIN}:{domain}", *groups})


def _read_domain(name: str) -> str:
    domain = unicodedata.normalize("NFC", name).lower().removeprefix("@")
    if not domain or any(sign in domain for sign in "@/ *"):
        raise ValueError("A domain is what follows the @ of an address, as in domain:example.org.")
    return domain


def _becomes_ascii(character: str) -> bool:
    folded = unicodedata.normalize("NFC", character).lower()
    return folded.isascii() and not character.isascii()


def _is_plain(text: str) -> bool:
    return not any(unicodedata.category(character) in {"Cc", "Cs", "Cf"} for character in text)
