"""What a browser keeps of a share link that it may open: that it knows the password, and that it was counted.

Two sealed texts, each for one link and for a day. Neither opens anything by itself: a link that has ended, or
asks for somebody who has signed in, is closed to their holder too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from auth.links import ShareLink
from auth.sealing import Fields, Seal

LONGEST = timedelta(hours=24)
"""How long a browser is let in after its password was right, and after it was counted."""


@dataclass(frozen=True)
class SealedText:
    """A text for a browser to keep.

    Attributes:
        text: letters, digits, `-` and `_`.
        expires: first moment at which it is worth nothing (UTC, whole seconds).
    """

    text: str
    expires: datetime


class LinkSeals:
    """Writes and reads the two texts; holds nothing but keys. Its arguments are those of `Seal`."""

    def __init__(self, secret: str, accepted: Sequence[str] = ()) -> None:
        self._keys = Seal(secret, "link key 1", accepted)
        self._openings = Seal(secret, "link opening 1", accepted)

    def write_key(self, link: ShareLink, now: datetime) -> SealedText:
        """Says that its holder knows the link's present password."""
        return _write(self._keys, link, _mark(link), now)

    def is_key(self, text: str, link: ShareLink, now: datetime) -> bool:
        """Whether this is such a text; one for an earlier password is not."""
        return _reads(self._keys, text, link, _mark(link), now)

    def write_opening(self, link: ShareLink, now: datetime) -> SealedText:
        """Says that its holder's opening was counted."""
        return _write(self._openings, link, "", now)

    def is_opening(self, text: str, link: ShareLink, now: datetime) -> bool:
        """Whether this is such a text."""
        return _reads(self._openings, text, link, "", now)


def _write(seal: Seal, link: ShareLink, mark: str, now: datetime) -> SealedText:
    expires = min(now + LONGEST, link.expires or now + LONGEST).replace(microsecond=0)
    fields: Fields = {"link": link.id, "mark": mark, "expires": int(expires.timestamp())}
    return SealedText(seal.write(fields), expires)


def _reads(seal: Seal, text: str, link: ShareLink, mark: str, now: datetime) -> bool:
    fields = seal.read(text) if text else None
    if fields is None:
        return False
    expires = datetime.fromtimestamp(int(fields["expires"]), UTC)
    return (fields["link"], fields["mark"]) == (link.id, mark) and now < expires


def _mark(link: ShareLink) -> str:
    """Names the password that the link has now, without telling anything of it."""
    return hashlib.sha256(link.password_hash.encode()).hexdigest()[:32]
