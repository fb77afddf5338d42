"""Who is calling: a principal found by its API token, or the local admin of a development server.

Signing in through other parties (OIDC, IAP) comes here too; what a principal may do stands in
`auth.policy` alone.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from auth.tokens import hash_token, new_api_token, same_digest

if TYPE_CHECKING:
    from auth.ports import TokenStore

_NO_DIGEST = "0" * 64


class Role(StrEnum):
    """How much a principal may do; each role includes the ones before it."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"


@dataclass(frozen=True)
class Principal:
    """Someone who calls.

    Attributes:
        name: for people: shown as the creator of what it makes.
        role: how much it may do.
    """

    name: str
    role: Role


LOCAL_ADMIN = Principal("local", Role.ADMIN)
"""Everybody who reaches a development server, which listens on this machine only."""


@dataclass(frozen=True)
class ApiToken:
    """An API token as it is stored; the secret is not part of it.

    Attributes:
        id: public name of the token, not a secret.
        name: what it is for; becomes the principal's name.
        role: how much it may do.
        created: when it was made (UTC).
        expires: first moment at which it no longer works, or None for never.
        revoked: when it was revoked, or None.
        creator: name of the principal who made it.
    """

    id: str
    name: str
    role: Role
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    creator: str

    def works_at(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def create_token(
    store: TokenStore,
    *,
    name: str,
    role: Role,
    creator: str,
    now: datetime,
    expires: datetime | None,
) -> tuple[ApiToken, str]:
    """Makes an API token and returns it with its secret, which can't be had a second time.

    Raises:
        ValueError: it would be expired at once.
    """
    if expires is not None and expires <= now:
        raise ValueError("A token can't expire in the past.")
    secret = new_api_token()
    token = ApiToken(secrets.token_hex(8), name, role, now, expires, None, creator)
    store.add_token(token, hash_token(secret))
    return token, secret


def identify(store: TokenStore, authorization: str | None, now: datetime) -> Principal | None:
    """The principal of an `Authorization: Bearer <token>` header, or None.

    A missing, wrong, expired and revoked token cost the same look-up and give the same answer.
    """
    scheme, _, secret = (authorization or "").partition(" ")
    digest = hash_token(secret.strip() if scheme.lower() == "bearer" else "")
    found = store.find_token(digest)
    if not same_digest(found[1] if found else _NO_DIGEST, digest) or found is None:
        return None
    token = found[0]
    return Principal(token.name, token.role) if token.works_at(now) else None
