"""Short texts that only this service can have written: values with a code over them (HMAC-SHA256).

For what a browser keeps or carries, so that nothing has to be stored here. Sealed is not secret: whoever
holds such a text can read it. This module knows no cookie and no clock, and keeps nothing but its key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import TypeAlias

_CODE_BYTES = 32
_LONGEST = 2000
"""Characters of a sealed text; ours are a tenth of it, and nobody shall have more looked at."""

Fields: TypeAlias = Mapping[str, str | int]


class Seal:
    """Writes and reads sealed texts of one purpose."""

    def __init__(self, secret: str, purpose: str) -> None:
        """Takes a key of its own for the purpose, so that no text passes for one of another purpose.

        Args:
            secret: known to this service only.
            purpose: what the texts are for; never to be changed, unless all that exist shall become void.
        """
        self._key = hmac.new(secret.encode(), f"seal: {purpose}".encode(), hashlib.sha256).digest()

    def write(self, fields: Fields) -> str:
        """The fields as a text of letters, digits, `-` and `_`."""
        body = json.dumps(fields, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._code(body) + body).rstrip(b"=").decode()

    def read(self, text: str) -> Fields | None:
        """The fields of a text; None unless `write` made it with this secret and purpose."""
        if len(text) > _LONGEST:
            return None
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            data = base64.b64decode(padded, altchars=b"-_", validate=True)
        except (binascii.Error, UnicodeEncodeError):
            return None
        code, body = data[:_CODE_BYTES], data[_CODE_BYTES:]
        if not hmac.compare_digest(code, self._code(body)):
            return None
        fields: Fields = json.loads(body)
        return fields

    def _code(self, body: bytes) -> bytes:
        return hmac.new(self._key, body, hashlib.sha256).digest()
