"""An issuer of push tokens as Google is one, with keys of its own."""

from __future__ import annotations

import time
from collections.abc import Mapping

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import crypt, jwt

AUDIENCE = "https://hub.example/notifications"
ACCOUNT = "pusher@project.iam.gserviceaccount.com"


class Issuer:
    """Signs tokens.

    Attributes:
        keys: its public keys in PEM by their ids, as they are published.
    """

    def __init__(self, key_id: str = "k1") -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self._signer = crypt.RSASigner.from_string(private.decode(), key_id)
        self.keys = {key_id: public.decode()}

    def header(self, *, age: float = 0, claims: Mapping[str, object] | None = None) -> str:
        """An `Authorization` header with a token that is so many seconds old and has these claims besides."""
        issued = int(time.time() - age)
        payload = {
            "iss": "https://accounts.google.com",
            "aud": AUDIENCE,
            "email": ACCOUNT,
            "email_verified": True,
            "sub": "1",
            "iat": issued,
            "exp": issued + 3600,
            **(claims or {}),
        }
        return f"Bearer {jwt.encode(self._signer, payload).decode()}"
