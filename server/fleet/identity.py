"""Who a front end is to the platform that stands before the workers, beside the credential that they check.

Cloud Run asks each caller for an identity token of Google's for the address that it calls. Such a token opens
the workers' door for an hour: it goes to that address only, and into no log (`auth.tokens.redact`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Protocol
from urllib.parse import urlsplit

IDENTITY_HEADER = "X-Serverless-Authorization"
"""Read, and not handed on, by Cloud Run; `Authorization` stays the worker's own."""
_RENEW_SECONDS = 240.0
"""So long before its end another one is asked for; the metadata server then has a new one (from 300 s on)."""
_AGAIN_SECONDS = 30.0
"""How long one that could not be renewed is used before that is tried again, as long as it is good."""
logger = logging.getLogger(__name__)


class Identity(Protocol):
    """Says who this front end is."""

    async def headers(self, url: str) -> Mapping[str, str]:
        """What a request to this worker says of that.

        Raises:
            ConnectionError: it can't be found out now.
        """


@dataclass(frozen=True)
class IdentityToken:
    """A token, and the Unix time at which it ends."""

    text: str
    ends: float


@dataclass(frozen=True)
class _Held:
    token: IdentityToken
    next_look: float


class IdentityTokens:
    """Identity tokens of this process's service account, one for each worker's host, kept until they end.

    Args:
        fetch: gets one for an audience; called in a thread, and raises OSError when there is none.
        clock: Unix seconds.
    """

    def __init__(
        self, fetch: Callable[[str], IdentityToken], clock: Callable[[], float] = time.time
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def headers(self, url: str) -> Mapping[str, str]:
        """See `Identity`."""
        audience = audience_of(url)
        held = self._held.get(audience)
        if held is None or self._clock() >= held.next_look:
            held = await self._renew(audience)
        return {IDENTITY_HEADER: f"Bearer {held.token.text}"}

    async def _renew(self, audience: str) -> _Held:
        """A token that is good: all who want one at a time wait for the same."""
        async with self._locks.setdefault(audience, asyncio.Lock()):
            held = self._held.get(audience)
            now = self._clock()
            if held is not None and now < held.next_look:
                return held
            try:
                token = await asyncio.to_thread(self._fetch, audience)
            except OSError as problem:
                logger.warning("there is no identity token for %s: %s", audience, problem)
                if held is None or now >= held.token.ends:
                    raise ConnectionError("there is no identity token") from problem
                token = held.token
            look = max(token.ends - _RENEW_SECONDS, min(now + _AGAIN_SECONDS, token.ends))
            self._held[audience] = _Held(token, look)
            return self._held[audience]


def audience_of(url: str) -> str:
    """Whom a token for this worker names: scheme and host, as Cloud Run wants it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def google_identity(urls: tuple[str, ...]) -> IdentityTokens:
    """Tokens of the service account that Google's platform, or a key file, gives this process.

    Args:
        urls: where the workers are.

    Raises:
        RuntimeError: there is no service account, in words for whoever configures it.
    """
    # Google's client takes 30 MB of memory, which a process without it can spare.
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import Request
    from google.oauth2.id_token import fetch_id_token_credentials

    ask = Request()
    try:
        known = {url: fetch_id_token_credentials(url, ask) for url in map(audience_of, urls)}
    except GoogleAuthError as problem:
        raise RuntimeError(
            "XPROF_HUB_WORKER_IDENTITY is google, but no service account is there to show the identity of: "
            f"{problem} Run the front end on Google Cloud as a service account, or set "
            "GOOGLE_APPLICATION_CREDENTIALS to a key file of one."
        ) from problem

    def fetch(audience: str) -> IdentityToken:
        credentials = known[audience]
        try:
            credentials.refresh(ask)
        except GoogleAuthError as problem:
            raise OSError(str(problem)) from problem
        # Google's client gives the end in UTC, without saying so.
        return IdentityToken(credentials.token, credentials.expiry.replace(tzinfo=UTC).timestamp())

    return IdentityTokens(fetch)
