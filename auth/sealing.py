"""Short texts that only this service can have written: values with a code over them (HMAC-SHA256).

For what a browser keeps or carries, so that nothing has to be stored here. Sealed is not secret: whoever
holds such a text can read it. This module knows no cookie and no clock, and keeps nothing but its keys: one
to write with, and those of other secrets that are accepted while one takes the place of another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

_CODE_BYTES = 32
_LONGEST = 2000
"""Characters of a sealed text; ours are a tenth of it, and nobody shall have more looked at."""

Fields: TypeAlias = Mapping[str, str | int]


class Seal:
    """Writes and reads sealed texts of one purpose."""

    def __init__(self, secret: str, purpose: str, accepted: Sequence[str] = ()) -> None:
        """Takes keys of its own for the purpose, so that no text passes for one of another purpose.

        Args:
            secret: known to this service only.
            purpose: what the texts are for; never to be changed, unless all that exist shall become void.
            accepted: other secrets of this service; texts that were written with them are read, too.
        """
        self._keys = tuple(_key(one, purpose) for one in (secret, *accepted))

    def write(self, fields: Fields) -> str:
        """The fields as a text of letters, digits, `-` and `_`."""
        body = json.dumps(fields, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(_code(self._keys[0], body) + body).rstrip(b"=").decode()

    def read(self, text: str) -> Fields | None:
        """The fields of a text; None unless `write` made it with one of the secrets for this purpose."""
        if len(text) > _LONGEST:
            return None
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            data = base64.b64decode(padded, altchars=b"-_", validate=True)
        except (binascii.Error, UnicodeEncodeError):
            return None
        code, body = data[:_CODE_BYTES], data[_CODE_BYTES:]
        # Every key is tried, so that the time does not tell with which one a text was written.
        if not any([hmac.compare_digest(code, _code(key, body)) for key in self._keys]):
            return None
        fields: Fields = json.loads(body)
        return fields


def _key(secret: str, purpose: str) -> bytes:
    return hmac.new(secret.encode(), f"seal: {purpose}".encode(), hashlib.sha256).digest()


def _code(key: bytes, body: bytes) -> bytes:
    return hmac.new(key, body, hashlib.sha256).digest()
