"""Secrets that open something: how they are made, hashed, and kept out of logs.

Two kinds exist: a link token (`xph_...`) opens one session in a browser, an API token (`xpa_...`) lets a
program act as a principal. Both carry 256 random bits, so a plain SHA-256 is enough to store them: there is
nothing to guess and hence nothing that a slow password hash would protect. This module keeps no token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string

LINK_PREFIX = "xph_"
"""Beginning of a link token."""
API_PREFIX = "xpa_"
"""Beginning of an API token."""
RANDOM_BYTES = 32
"""Random bytes in a token; base64url makes 43 characters of them."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ALPHABET = string.ascii_letters + string.digits + "-_"
_LINK_TOKEN = re.compile(rf"{LINK_PREFIX}[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9_-])")


def new_link_token() -> str:
    """A fresh link token: `xph_` and 43 characters."""
    return LINK_PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def new_api_token() -> str:
    """A fresh API token: `xpa_` and 43 characters."""
    return API_PREFIX + secrets.token_urlsafe(RANDOM_BYTES)


def read_link_token(text: str) -> str:
    """The link token in a text, such as the address of a link; empty when there is no whole one."""
    found = _LINK_TOKEN.search(text)
    return found[0] if found else ""


def hash_token(token: str) -> str:
    """Hex SHA-256 of a token; any text is accepted, so that nonsense costs as much as a real token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_digest(text: str) -> bool:
    """Whether a text can be what `hash_token` gives."""
    return _DIGEST.fullmatch(text) is not None


def same_digest(left: str, right: str) -> bool:
    """Whether two digests are equal, in a time that doesn't depend on where they differ."""
    return hmac.compare_digest(left.encode(), right.encode())


def redact(text: str) -> str:
    """The text with every token replaced by its prefix and an ellipsis.

    Also finds tokens that are percent-encoded (once or more, wholly or in part), and tokens that were cut
    off: whatever follows a prefix and could belong to a token goes. Signed tokens of others (JWTs), with
    which people and front ends prove who they are, go likewise.
    """
    cleaned = _TOKEN.sub(lambda found: _prefix_of(found["kind"]) + "…", text)
    return _SIGNED.sub(_SIGNED_PREFIX + "…", cleaned)


def _prefix_of(kind: str) -> str:
    """The plain prefix of a token's third letter, which may itself be percent-encoded."""
    return LINK_PREFIX if kind.lower() == "h" or kind.endswith("68") else API_PREFIX


def _any_encoding(character: str) -> str:
    """A pattern for a character, plain or percent-encoded any number of times."""
    return f"(?:{re.escape(character)}|%(?:25)*{ord(character):02x})"


def _token_pattern() -> re.Pattern[str]:
    codes = "|".join(f"{ord(character):02x}" for character in _ALPHABET)
    start = _any_encoding("x") + _any_encoding("p")
    kind = f"(?P<kind>{_any_encoding('h')}|{_any_encoding('a')})"
    rest = f"(?:[A-Za-z0-9_-]|%(?:25)*(?:{codes}))+"
    return re.compile(start + kind + _any_encoding("_") + rest, re.IGNORECASE)


_TOKEN = _token_pattern()
_SIGNED_PREFIX = "eyJ"
"""Every JWT begins so: `{"` in base64url."""
_SIGNED = re.compile(rf"{_SIGNED_PREFIX}[A-Za-z0-9_-]{{6,}}(?:\.[A-Za-z0-9_-]*){{1,2}}")
