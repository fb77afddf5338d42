"""Who is calling: a principal found by its API token, or the local admin of a development server.

Signing in through other parties (OIDC, IAP) comes here too; what a principal may do stands in
`auth.policy` alone.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from auth.tokens import hash_token, is_digest, new_api_token, same_digest

if TYPE_CHECKING:
    from auth.ports import TokenStore

_NO_DIGEST = "0" * 64


class ParentEndedError(Exception):
    """The token that a new one was to end with works no more."""


class Role(StrEnum):
    """How much a principal may do; editors and admins include the roles before them."""

    INGEST = "ingest"
    """A job: registers itself and its sessions, and reads nothing."""
    VIEWER = "viewer"
    """Reads, and registers nothing."""
    EDITOR = "editor"
    ADMIN = "admin"


@dataclass(frozen=True)
class Principal:
    """Someone who calls.

    Attributes:
        name: for people: shown as the creator of what it makes.
        role: how much it may do.
        id: stays the same when the name changes, and is nobody else's: `user:ann@example.org`, `token:<id>`.
    """

    name: str
    role: Role
    id: str = ""


LOCAL_ADMIN = Principal("local", Role.ADMIN, "user:local")
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
        parent: id of the token that it was made with and ends with; empty for one that stands alone.
    """

    id: str
    name: str
    role: Role
    created: datetime
    expires: datetime | None
    revoked: datetime | None
    creator: str
    parent: str = ""

    def works_at(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    @property
    def principal(self) -> Principal:
        """Who calls with it."""
        return Principal(self.name, self.role, f"token:{self.id}")


def create_token(
    store: TokenStore,
    *,
    name: str,
    role: Role,
    creator: str,
    now: datetime,
    expires: datetime | None,
    parent: str = "",
) -> tuple[ApiToken, str]:
    """Makes an API token and returns it with its secret, which can't be had a second time.

    Raises:
        ValueError: it would be expired at once.
        ParentEndedError: the token that it was to end with has ended.
    """
    secret = new_api_token()
    token = _new_token(name, role, creator, now, expires, parent)
    store.add_token(token, hash_token(secret))
    return token, secret


def register_token(
    store: TokenStore,
    digest: str,
    *,
    name: str,
    role: Role,
    creator: str,
    now: datetime,
    expires: datetime | None,
) -> ApiToken:
    """Keeps an API token that was made elsewhere, of which nothing but the digest ever comes here.

    Args:
        store: keeps it.
        digest: `auth.tokens.hash_token` of its secret.
        name: what it is for.
        role: how much it may do.
        creator: who registers it.
        now: this moment.
        expires: first moment at which it no longer works, or None for never.

    Raises:
        ValueError: this is no digest, a token with it is there already, or it would be expired at once.
    """
    if not is_digest(digest):
        raise ValueError(
            "This is no token's digest, which has 64 digits from 0 to f: 'xprof-hub tokens prepare' "
            "makes a token and tells its digest."
        )
    token = _new_token(name, role, creator, now, expires, "")
    known = store.find_token(digest)
    if known is not None:
        raise ValueError(f"A token with this digest was registered before: {known[0].id}.")
    store.add_token(token, digest)
    return token


def _new_token(
    name: str, role: Role, creator: str, now: datetime, expires: datetime | None, parent: str
) -> ApiToken:
    """A token as it is stored, with an id that nobody can foresee.

    Raises:
        ValueError: it would be expired at once.
    """
    if expires is not None and expires <= now:
        raise ValueError("A token can't expire in the past.")
    return ApiToken(secrets.token_hex(8), name, role, now, expires, None, creator, parent)


def as_job(principal: Principal) -> Principal:
    """The same caller, allowed no more than a job is."""
    return replace(principal, role=Role.INGEST)


def identify(store: TokenStore, authorization: str | None, now: datetime) -> Principal | None:
    """The principal of an `Authorization` header, or None.

    The token is what `Bearer` carries, or the password of `Basic` with any user name: a client that takes
    nothing but an address sends `http://job:TOKEN@host` as that.
    """
    return identify_token(store, _token_of(authorization or ""), now)


def identify_token(store: TokenStore, secret: str, now: datetime) -> Principal | None:
    """The principal of an API token, or None."""
    token = find_working_token(store, secret, now)
    return token.principal if token else None


def find_working_token(store: TokenStore, secret: str, now: datetime) -> ApiToken | None:
    """The API token that has this secret, if it works.

    A missing, wrong, expired and revoked token cost the same look-up and give the same answer.
    """
    digest = hash_token(secret)
    found = store.find_token(digest)
    if not same_digest(found[1] if found else _NO_DIGEST, digest) or found is None:
        return None
    return found[0] if found[0].works_at(now) else None


def is_basic(authorization: str | None) -> bool:
    """Whether a header's credentials are such as a browser sends by itself once it has them."""
    return (authorization or "").partition(" ")[0].lower() == "basic"


def _token_of(authorization: str) -> str:
    """The token in a header; empty when there is none."""
    scheme, _, credentials = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        pair = base64.b64decode(credentials.strip(), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return pair.partition(":")[2]
