"""Whether a push of Google Cloud Pub/Sub is genuine: a token signed by Google for one service account.

The rules are those of https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions: signature by one
of Google's published keys, the audience and the e-mail that the subscription has, a verified e-mail.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping

GOOGLE_ISSUERS = frozenset({"https://accounts.google.com", "accounts.google.com"})
_KEYS_SECONDS = 3600.0
_RETRY_SECONDS = 60.0
"""How long an unknown key is not asked for again, nor an issuer who did not answer: a forged token must not
make us call somebody, and wait, each time."""
_SKEW_SECONDS = 30
_LONGEST_TOKEN = 8192


class KeysUnavailableError(Exception):
    """The keys that tokens are checked with can't be fetched now."""


class PushVerifier:
    """Checks the tokens of pushes.

    Args:
        audience: that the subscription was made with.
        email: of the service account whose tokens the subscription sends.
        fetch_keys: gets the issuer's public keys or certificates in PEM by their ids; raises
            KeysUnavailableError.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        audience: str,
        email: str,
        fetch_keys: Callable[[], Mapping[str, str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._audience = audience
        self._email = email
        self._fetch_keys = fetch_keys
        self._clock = clock
        self._keys: Mapping[str, str] = {}
        self._fetched: float | None = None
        self._failed: float | None = None
        self._lock = threading.Lock()

    def is_genuine(self, authorization: str | None) -> bool:
        """Whether an `Authorization` header holds a token that counts; may wait for the issuer's keys.

        Raises:
            KeysUnavailableError: there are no keys to check it with.
        """
        # 15 MB that a hub without notifications does not need.
        from google.auth import exceptions, jwt

        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not 0 < len(token) <= _LONGEST_TOKEN:
            return False
        try:
            header = jwt.decode_header(token)
            key_id = header.get("kid") if isinstance(header, dict) else None
            if not isinstance(key_id, str):
                return False
            keys = self._keys_with(key_id)
            if key_id not in keys:
                return False
            claims = jwt.decode(
                token, keys, audience=self._audience, clock_skew_in_seconds=_SKEW_SECONDS
            )
        except (ValueError, RecursionError, exceptions.GoogleAuthError):
            return False
        return (
            claims.get("iss") in GOOGLE_ISSUERS
            and claims.get("email") == self._email
            and claims.get("email_verified") is True
        )

    def _keys_with(self, key_id: str) -> Mapping[str, str]:
        """The keys, fetched again when they are old, or when one is missing and that was not just tried."""
        with self._lock:
            now = self._clock()
            age = None if self._fetched is None else now - self._fetched
            is_stale = age is None or age > _KEYS_SECONDS
            if is_stale or (key_id not in self._keys and age is not None and age > _RETRY_SECONDS):
                self._keys = dict(self._fetch(now))
                self._fetched = now
            return self._keys

    def _fetch(self, now: float) -> Mapping[str, str]:
        """The issuer's keys of now; not asked for again soon after that failed."""
        if self._failed is not None and now - self._failed <= _RETRY_SECONDS:
            raise KeysUnavailableError("the issuer did not answer a moment ago")
        try:
            return self._fetch_keys()
        except KeysUnavailableError:
            self._failed = now
            raise
