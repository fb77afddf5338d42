"""Whether another party has signed a text (JSON Web Tokens, RFC 7519): with its published keys, for us, now.

One mechanism for identity tokens of OpenID Connect, the assertions of Google's proxy (IAP) and the pushes of
Google's Pub/Sub. Only signatures with a public key count: where a shared secret or no signature at all were
accepted, too, a published key would be the secret. This module fetches nothing itself.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from joserfc.jwk import Key

    Keys: TypeAlias = Mapping[str, Key]

_KEYS_SECONDS = 3600.0
_RETRY_SECONDS = 60.0
"""How long an unknown key is not asked for again, nor an issuer who did not answer: a forged token must not
make us call somebody, and wait, each time."""
_LONGEST_TOKEN = 16 << 10
"""Characters; an identity token that names hundreds of groups has half of it."""
SKEW_SECONDS = 30
"""How far the clocks of two machines may be apart."""
ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"}
)
"""Of JSON Web Algorithms (RFC 7518) those with a public key."""

Claims: TypeAlias = Mapping[str, object]


class KeysUnavailableError(Exception):
    """The keys that tokens are checked with can't be fetched now."""


class Refusal(StrEnum):
    """Why a token counts for nothing."""

    UNREADABLE = "unreadable"
    UNSIGNED = "unsigned"
    """No key of the issuer has signed it."""
    ISSUER = "issuer"
    AUDIENCE = "audience"
    EXPIRED = "expired"
    NOT_YET = "not yet"
    """It is from the future, or for it: clocks differ, or it is forged."""


class TokenRefusedError(Exception):
    """A token that counts for nothing.

    Attributes:
        refusal: why.
    """

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


class PublishedKeys:
    """An issuer's public keys: fetched when they are needed, kept for an hour.

    Args:
        fetch: gets what the issuer publishes, as JSON: a set of keys (RFC 7517), or an object of keys or
            certificates in PEM by their ids, as Google does; raises KeysUnavailableError.
        clock: seconds that only grow.
    """

    def __init__(
        self, fetch: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch_document = fetch
        self._clock = clock
        self._keys: Keys = {}
        self._fetched: float | None = None
        self._failed: float | None = None
        self._lock = threading.Lock()

    def find(self, key_id: str | None) -> Key | None:
        """The key of this id; without an id the only one there is. May wait for the issuer.

        Raises:
            KeysUnavailableError: there are no keys.
        """
        keys = self._keys_with(key_id)
        if key_id is not None:
            return keys.get(key_id)
        return next(iter(keys.values())) if len(keys) == 1 else None

    def _keys_with(self, key_id: str | None) -> Keys:
        """The keys, fetched again when they are old, or when one is missing and that was not just tried.

        Who asks for one that is there waits for nobody: forged tokens make us fetch, and an issuer be slow.
        """
        known, fetched = self._keys, self._fetched
        if key_id in known and fetched is not None and self._clock() - fetched <= _KEYS_SECONDS:
            return known
        with self._lock:
            now = self._clock()
            age = None if self._fetched is None else now - self._fetched
            is_stale = age is None or age > _KEYS_SECONDS
            is_missing = key_id is not None and key_id not in self._keys
            if is_stale or (is_missing and age is not None and age > _RETRY_SECONDS):
                self._keys = self._fetch(now)
                self._fetched = now
            return self._keys

    def _fetch(self, now: float) -> Keys:
        """The issuer's keys of now; not asked for again soon after that failed."""
        if self._failed is not None and now - self._failed <= _RETRY_SECONDS:
            raise KeysUnavailableError("the issuer did not answer a moment ago")
        try:
            return read_keys(self._fetch_document())
        except KeysUnavailableError:
            self._failed = now
            raise


@dataclass(frozen=True)
class TokenReader:
    """Reads tokens of one issuer for one audience.

    Attributes:
        issuers: how the issuer may call itself.
        audience: what stands in the token for us.
        keys: the issuer's.
        algorithms: of the signature.
        takes_lists: whether a list of audiences counts that names ours (OpenID Connect, 3.1.3.7).
        clock: seconds since 1970.
    """

    issuers: frozenset[str]
    audience: str
    keys: PublishedKeys
    algorithms: frozenset[str] = ALGORITHMS
    takes_lists: bool = False
    clock: Callable[[], float] = time.time

    def read(self, token: str) -> tuple[Claims, Mapping[str, object]]:
        """What a token claims, and its header; may wait for the issuer's keys.

        Raises:
            TokenRefusedError: it counts for nothing.
            KeysUnavailableError: there are no keys to check it with.
        """
        if not 0 < len(token) <= _LONGEST_TOKEN:
            raise TokenRefusedError(Refusal.UNREADABLE)
        header, claims = self._signed(token)
        self._check(claims)
        return claims, header

    def _signed(self, token: str) -> tuple[Mapping[str, object], Claims]:
        # A hub without any of these does not need it.
        from joserfc import jws, jwt
        from joserfc.errors import JoseError

        try:
            header = jws.extract_compact(token.encode()).headers()
            key_id, algorithm = header.get("kid"), header.get("alg")
        except (JoseError, ValueError, RecursionError, UnicodeError, AttributeError) as problem:
            raise TokenRefusedError(Refusal.UNREADABLE) from problem
        is_readable = isinstance(algorithm, str) and isinstance(key_id, str | None)
        # No extension that must be understood is known here (RFC 7515, 4.1.11).
        if not is_readable or algorithm not in self.algorithms or "crit" in header:
            raise TokenRefusedError(Refusal.UNSIGNED)
        key = self.keys.find(key_id)
        if key is None:
            raise TokenRefusedError(Refusal.UNSIGNED)
        try:
            return header, jwt.decode(token, key, algorithms=sorted(self.algorithms)).claims
        except (JoseError, ValueError, RecursionError) as problem:
            raise TokenRefusedError(Refusal.UNSIGNED) from problem

    def _check(self, claims: Claims) -> None:
        issuer = claims.get("iss")
        if not isinstance(issuer, str) or issuer not in self.issuers:
            raise TokenRefusedError(Refusal.ISSUER)
        audience = claims.get("aud")
        is_listed = self.takes_lists and isinstance(audience, list) and self.audience in audience
        if audience != self.audience and not is_listed:
            raise TokenRefusedError(Refusal.AUDIENCE)
        now = self.clock()
        if _number(claims.get("exp")) + SKEW_SECONDS <= now:
            raise TokenRefusedError(Refusal.EXPIRED)
        begins = max(_number(claims.get("iat")), _number(claims.get("nbf", 0)))
        if begins - SKEW_SECONDS > now:
            raise TokenRefusedError(Refusal.NOT_YET)


def read_keys(document: object) -> Keys:
    """The keys that an issuer publishes, by their ids; those that can't check a signature are left out.

    Raises:
        KeysUnavailableError: this is no such document.
    """
    from joserfc.errors import JoseError

    if not isinstance(document, dict):
        raise KeysUnavailableError("what is published is no JSON object")
    listed = document.get("keys")
    if isinstance(listed, list):
        pairs = [(str(one.get("kid", "")), one) for one in listed if isinstance(one, dict)]
    else:
        pairs = [(str(key_id), text) for key_id, text in document.items()]
    keys = {}
    for key_id, published in pairs:
        try:
            key = _public_key(published)
        except (JoseError, ValueError, TypeError):
            # Of a kind that comes after this library; tokens that are signed with it are refused.
            continue
        if key is not None:
            keys[key_id] = key
    return keys


def _public_key(published: object) -> Key | None:
    from joserfc.jwk import import_key

    if isinstance(published, str):
        return _key_of_pem(published.encode())
    if not isinstance(published, dict):
        return None
    if published.get("use", "sig") != "sig" or published.get("kty") not in {"RSA", "EC"}:
        return None
    return import_key({name: published[name] for name in published if name in _PUBLIC_FIELDS})


def _key_of_pem(pem: bytes) -> Key | None:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        PublicFormat,
        load_pem_public_key,
    )
    from cryptography.x509 import load_pem_x509_certificate
    from joserfc.jwk import ECKey, RSAKey

    is_certificate = b"BEGIN CERTIFICATE" in pem
    key = (
        load_pem_x509_certificate(pem).public_key() if is_certificate else load_pem_public_key(pem)
    )
    if not isinstance(key, RSAPublicKey | EllipticCurvePublicKey):
        return None
    kind = RSAKey if isinstance(key, RSAPublicKey) else ECKey
    return kind.import_key(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


_PUBLIC_FIELDS = frozenset({"kty", "n", "e", "crv", "x", "y", "alg", "use", "kid"})


def _number(value: object) -> float:
    """A moment in seconds since 1970.

    Raises:
        TokenRefusedError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenRefusedError(Refusal.UNREADABLE)
    # JSON has no such numbers, but Python reads them, and nothing is later than what is none.
    if isinstance(value, float) and not math.isfinite(value):
        raise TokenRefusedError(Refusal.UNREADABLE)
    return value
