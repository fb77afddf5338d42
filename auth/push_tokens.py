"""Whether a push of Google Cloud Pub/Sub is genuine: a token signed by Google for one service account.

The rules are those of https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions: signature by one
of Google's published keys, the audience and the e-mail that the subscription has, a verified e-mail.
"""

from __future__ import annotations

from auth.signed_tokens import PublishedKeys, TokenReader, TokenRefusedError

GOOGLE_ISSUERS = frozenset({"https://accounts.google.com", "accounts.google.com"})


class PushVerifier:
    """Checks the tokens of pushes.

    Args:
        audience: that the subscription was made with.
        email: of the service account whose tokens the subscription sends.
        keys: Google's.
    """

    def __init__(self, audience: str, email: str, keys: PublishedKeys) -> None:
        self._reader = TokenReader(GOOGLE_ISSUERS, audience, keys, algorithms=frozenset({"RS256"}))
        self._email = email

    def is_genuine(self, authorization: str | None) -> bool:
        """Whether an `Authorization` header holds a token that counts; may wait for the issuer's keys.

        Raises:
            KeysUnavailableError: there are no keys to check it with.
        """
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return False
        try:
            claims, _ = self._reader.read(token)
        except TokenRefusedError:
            return False
        return claims.get("email") == self._email and claims.get("email_verified") is True
