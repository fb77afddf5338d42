"""What `auth` needs from outside, as protocols; `server.registry` implements them in SQL."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from auth.identity import ApiToken
from auth.links import FoundLink, ShareLink


class LinkStore(Protocol):
    """Keeps share links under the digest of their token; never sees a token."""

    def add_link(self, link: ShareLink, digest: str) -> ShareLink:
        """Keeps a new link and returns it as stored.

        Raises:
            LookupError: the session or run that it opens does not exist.
        """

    def find_link(self, digest: str) -> FoundLink | None:
        """The link stored under this digest, expired and revoked ones too, with the rules of this moment."""

    def count_open(self, link_id: str, now: datetime) -> bool:
        """Adds one to the link's opens, unless there are as many as there may be; whether it did.

        Of simultaneous calls as many count as are allowed.
        """


class TokenStore(Protocol):
    """Keeps API tokens under their digest; never sees a token."""

    def add_token(self, token: ApiToken, digest: str) -> None:
        """Keeps a new API token.

        Raises:
            ParentEndedError: its parent works no more; a parent that is ended later ends it too.
        """

    def find_token(self, digest: str) -> tuple[ApiToken, str] | None:
        """The API token stored under this digest together with the stored digest, ended ones too."""

    def find_token_by_id(self, token_id: str) -> ApiToken | None:
        """The API token of this id, an ended one too."""
