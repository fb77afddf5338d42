"""Passwords of share links: how they are kept, and how one that somebody typed is compared.

People choose them, so they can be guessed, unlike tokens: each is kept under a salt of its own by a function
that costs time and memory (scrypt, RFC 7914). This module limits no guesses and keeps nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import unicodedata

SHORTEST, LONGEST = 8, 200
"""Characters of a password."""

_KIND = "scrypt"
_COST, _BLOCK, _LANES = 1 << 14, 8, 1
"""16 MB of memory and some 50 ms for each comparison."""
_SALT_BYTES = 16
_HASH_BYTES = 32
_MOST_MEMORY = 64 << 20


def check_password(text: str) -> str:
    """The password, if it may be one.

    Raises:
        ValueError: it is too short or too long.
    """
    if not SHORTEST <= len(_typed(text)) <= LONGEST:
        raise ValueError(f"A password has {SHORTEST} to {LONGEST} characters.")
    return text


def hash_password(text: str) -> str:
    """What is kept instead of a password; another text each time.

    Raises:
        ValueError: as `check_password`.
    """
    salt = secrets.token_bytes(_SALT_BYTES)
    made = _derive(check_password(text), salt, _COST, _BLOCK, _LANES)
    numbers = (str(number) for number in (_COST, _BLOCK, _LANES))
    return "$".join((_KIND, *numbers, _text(salt), _text(made)))


def password_matches(text: str, kept: str) -> bool:
    """Whether this is the password that `hash_password` made the kept text of.

    Takes a tenth of a second and 16 MB. The cost is the kept text's own, so that it may be raised later.

    Raises:
        ValueError: the kept text is none of ours.
    """
    kind, cost, block, lanes, salt, made = kept.split("$")
    if kind != _KIND:
        raise ValueError(f"passwords kept as {kind!r} are not known here")
    if len(text) > LONGEST:
        return False
    expected = base64.b64decode(made)
    found = _derive(text, base64.b64decode(salt), int(cost), int(block), int(lanes))
    return hmac.compare_digest(found, expected)


def _typed(text: str) -> str:
    """One form for a text that keyboards write in several: `é` is one character or two."""
    return unicodedata.normalize("NFC", text)


def _derive(text: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    return hashlib.scrypt(
        _typed(text).encode("utf-8", "surrogatepass"),
        salt=salt,
        n=cost,
        r=block,
        p=lanes,
        maxmem=_MOST_MEMORY,
        dklen=_HASH_BYTES,
    )


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
