"""What a front end needs to let people sign in, in one piece for `server.services`."""

from __future__ import annotations

from dataclasses import dataclass

from auth.browser_sessions import BrowserSeals
from auth.iap import IapReader
from auth.oidc import AttemptSeal
from server.callers.oidc_provider import OidcProvider


@dataclass(frozen=True)
class SignIns:
    """Made by `server.callers.signed_in.open_sign_ins`.

    Attributes:
        seals: writes and reads what browsers keep once somebody has signed in.
        attempts: the same for the way to the provider and back.
        admins: members that are admins by setting.
        provider: where people sign in with OpenID Connect, or None.
        iap: reads what Google's proxy says of a request, or None.
    """

    seals: BrowserSeals
    attempts: AttemptSeal
    admins: frozenset[str]
    provider: OidcProvider | None = None
    iap: IapReader | None = None
