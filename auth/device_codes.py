"""Signing in a program without giving it a secret by hand (after RFC 8628): a person allows it in a browser.

The program shows a short code and keeps a long one. Whoever types the short one and shows an API token lets
the program in; the long one then becomes an API token that ends with the other, once. The short code opens
nothing by itself: it names a request for ten minutes.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

LIFETIME = timedelta(minutes=10)
"""How long a person has to allow a request."""
INTERVAL = timedelta(seconds=5)
"""How often a program may ask (RFC 8628, 3.2)."""
TOKEN_LIFETIME = timedelta(days=90)
"""How long the token works that a program gets."""

# Without vowels no code is a word, and no letter is taken for a digit (RFC 8628, 6.1).
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
_HALF = 4


class DeviceState(StrEnum):
    """What its person has said of a request."""

    WAITING = "waiting"
    ALLOWED = "allowed"
    REFUSED = "refused"


@dataclass(frozen=True)
class DeviceRequest:
    """A program that waits to be let in.

    Attributes:
        user_code: what its person types, as `BCDF-GHJK`.
        client: what the program calls itself; anybody may say anything here.
        expires: first moment at which it is too late.
        state: what its person has said.
        token_id: id of the API token that it was allowed with; empty until then, and when it was refused.
    """

    user_code: str
    client: str
    expires: datetime
    state: DeviceState = DeviceState.WAITING
    token_id: str = ""


def new_device_code() -> str:
    """The long code, of 256 random bits."""
    return secrets.token_urlsafe(32)


def new_user_code() -> str:
    """The short code, of 34 random bits."""
    letters = "".join(secrets.choice(_LETTERS) for _ in range(2 * _HALF))
    return f"{letters[:_HALF]}-{letters[_HALF:]}"


def read_user_code(text: str) -> str:
    """The short code that somebody typed, in whatever case and with whatever between; empty if it is none."""
    letters = re.sub(r"[^A-Z]", "", text.upper())
    if len(letters) != 2 * _HALF or not set(letters) <= set(_LETTERS):
        return ""
    return f"{letters[:_HALF]}-{letters[_HALF:]}"
