"""Talking to the provider where people sign in with OpenID Connect; what is asked and checked: `auth.oidc`.

Its discovery document is fetched when somebody signs in first and kept for an hour, so that a hub starts, and
answers whoever has signed in, while the provider is down.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote

import httpx2

from auth.members import KnownPerson
from auth.oidc import (
    Attempt,
    Client,
    Provider,
    SignInRefusal,
    SignInRefusedError,
    Tokens,
    authorization_address,
    check_id_token,
    code_of_answer,
    read_person,
    read_provider,
    refused_token,
    sign_out_address,
)
from auth.signed_tokens import (
    KeysUnavailableError,
    PublishedKeys,
    TokenReader,
    TokenRefusedError,
)
from server.http.published import PublishedDocument

_DISCOVERY = "/.well-known/openid-configuration"
_DOCUMENT_SECONDS = 3600.0
_RETRY_SECONDS = 10.0
"""How long it is not asked again after it said nothing: everybody may press the button, and would wait for it
one after the other."""
_SECONDS = 10.0
_LONGEST_DETAIL = 200


class OidcProvider:
    """The one provider of a hub. Safe to share between threads.

    Args:
        issuer: its address, as it names itself.
        client: what it knows this hub by.
        clock: seconds that only grow.
    """

    def __init__(
        self, issuer: str, client: Client, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._client = client
        self._clock = clock
        self._document = PublishedDocument(f"{issuer.rstrip('/')}{_DISCOVERY}")
        self._keys = PublishedKeys(self._fetch_keys, clock)
        self._provider: Provider | None = None
        self._fetched = 0.0
        self._failed: float | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Its host, for people."""
        return self._issuer.partition("://")[2].strip("/")

    def address_for(self, attempt: Attempt, redirect_uri: str) -> str:
        """Where the browser is led to sign in; may wait for the provider.

        Raises:
            SignInRefusedError: UNAVAILABLE.
        """
        return authorization_address(self._known(), self._client, attempt, redirect_uri)

    def sign_out_address(self, return_to: str, state: str) -> str:
        """Where the browser is led to sign out, and then back; empty where the provider offers none.

        May wait for the provider.

        Raises:
            SignInRefusedError: UNAVAILABLE.
        """
        return sign_out_address(self._known(), self._client, return_to, state)

    def person_of_answer(
        self, query: Mapping[str, str], attempt: Attempt | None, redirect_uri: str
    ) -> KnownPerson:
        """Who comes back from the provider; asks it.

        Raises:
            SignInRefusedError: nobody who can be signed in.
        """
        if attempt is None:
            raise SignInRefusedError(SignInRefusal.STALE)
        provider = self._known()
        code = code_of_answer(query, attempt, provider)
        tokens = self._redeem(provider, code, attempt, redirect_uri)
        claims, header = self._read_id_token(tokens.id_token)
        check_id_token(claims, header, self._client, attempt, tokens.access_token)
        if "email" not in claims and provider.userinfo_endpoint:
            claims = {**self._more_about(provider, tokens, claims.get("sub")), **claims}
        return read_person(claims, self._client)

    def _known(self) -> Provider:
        with self._lock:
            now = self._clock()
            if self._provider is None or now - self._fetched > _DOCUMENT_SECONDS:
                self._provider = read_provider(self._published(now), self._issuer)
                self._fetched = now
            return self._provider

    def _published(self, now: float) -> object:
        """Its discovery document of now; not asked for again soon after that failed."""
        if self._failed is not None and now - self._failed <= _RETRY_SECONDS:
            raise SignInRefusedError(SignInRefusal.UNAVAILABLE, "it said nothing a moment ago")
        try:
            return self._document.fetch()
        except KeysUnavailableError as problem:
            self._failed = self._clock()
            raise SignInRefusedError(SignInRefusal.UNAVAILABLE, str(problem)) from problem

    def _fetch_keys(self) -> object:
        return PublishedDocument(self._known().keys_url).fetch()

    def _redeem(self, provider: Provider, code: str, attempt: Attempt, redirect_uri: str) -> Tokens:
        """The tokens of a code, which the provider gives out once."""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": attempt.verifier,
        }
        client = self._client
        basic = None
        if client.secret and provider.takes_basic:
            # Encoded as for a form (RFC 6749, 2.3.1).
            basic = httpx2.BasicAuth(quote(client.id, safe=""), quote(client.secret, safe=""))
        else:
            fields["client_id"] = client.id
            if client.secret:
                fields["client_secret"] = client.secret
        answer = _asked(
            lambda: httpx2.post(provider.token_endpoint, data=fields, auth=basic, timeout=_SECONDS)
        )
        id_token, access_token = answer.get("id_token"), answer.get("access_token")
        if not isinstance(id_token, str) or not isinstance(access_token, str):
            raise SignInRefusedError(SignInRefusal.PROVIDER_ERROR, "it gave no identity token")
        return Tokens(id_token, access_token)

    def _read_id_token(self, token: str) -> tuple[Mapping[str, object], Mapping[str, object]]:
        issuers = frozenset({self._issuer})
        reader = TokenReader(issuers, self._client.id, self._keys, takes_lists=True)
        try:
            return reader.read(token)
        except TokenRefusedError as problem:
            raise refused_token(problem) from problem
        except KeysUnavailableError as problem:
            raise SignInRefusedError(SignInRefusal.UNAVAILABLE, "its keys") from problem

    def _more_about(
        self, provider: Provider, tokens: Tokens, subject: object
    ) -> Mapping[str, object]:
        """What the provider tells of a person apart from the token."""
        headers = {"Authorization": f"Bearer {tokens.access_token}"}
        told = _asked(
            lambda: httpx2.get(provider.userinfo_endpoint, headers=headers, timeout=_SECONDS)
        )
        # An answer about somebody else must not be taken for one about this person (OpenID Connect, 5.3.2).
        if told.get("sub") != subject:
            raise SignInRefusedError(SignInRefusal.NOT_GENUINE, "userinfo is about somebody else")
        return told


def _asked(request: Callable[[], httpx2.Response]) -> Mapping[str, object]:
    """The JSON object that the provider answers.

    Raises:
        SignInRefusedError: UNAVAILABLE, or PROVIDER_ERROR when it refuses the request.
    """
    try:
        response = request()
        answer: object = response.json()
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as problem:
        raise SignInRefusedError(SignInRefusal.UNAVAILABLE, type(problem).__name__) from problem
    if not isinstance(answer, dict):
        raise SignInRefusedError(SignInRefusal.UNAVAILABLE, "its answer is no object")
    if response.is_success:
        return answer
    if response.status_code >= 500:
        raise SignInRefusedError(SignInRefusal.UNAVAILABLE, f"status {response.status_code}")
    detail = f"{answer.get('error', '')} {answer.get('error_description', '')}".strip()
    raise SignInRefusedError(SignInRefusal.PROVIDER_ERROR, detail[:_LONGEST_DETAIL])
