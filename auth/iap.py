"""Who stands behind a request that came through Google's Identity-Aware Proxy.

The proxy signs what it says, in the header `X-Goog-IAP-JWT-Assertion`: only that counts. The plain headers
that it sends beside it can be sent by anybody who reaches the hub past the proxy. The rules are those of
https://cloud.google.com/iap/docs/signed-headers-howto.
"""

from __future__ import annotations

from auth.members import KnownPerson, read_email
from auth.signed_tokens import (
    KeysUnavailableError,
    PublishedKeys,
    Refusal,
    TokenReader,
    TokenRefusedError,
)

ASSERTION_HEADER = "x-goog-iap-jwt-assertion"
ISSUER = "https://cloud.google.com/iap"
KEYS_URL = "https://www.gstatic.com/iap/verify/public_key-jwk"

__all__ = ["ASSERTION_HEADER", "ISSUER", "KEYS_URL", "IapReader", "KeysUnavailableError"]


class IapReader:
    """Reads assertions for one hub.

    Args:
        audience: of the backend, as `/projects/123/global/backendServices/456`.
        keys: the proxy's.
    """

    def __init__(self, audience: str, keys: PublishedKeys) -> None:
        self._reader = TokenReader(
            frozenset({ISSUER}), audience, keys, algorithms=frozenset({"ES256"})
        )

    def read(self, assertion: str) -> KnownPerson:
        """Whom the proxy has let through; may wait for its keys.

        Raises:
            TokenRefusedError: the proxy did not say so, or not to this hub, or not now.
            KeysUnavailableError: there are no keys to check it with.
        """
        claims, _ = self._reader.read(assertion)
        try:
            email = read_email(claims.get("email"))
        except ValueError as problem:
            raise TokenRefusedError(Refusal.UNREADABLE) from problem
        return KnownPerson(email, email)
