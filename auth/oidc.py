"""Signing in at a provider of OpenID Connect: what is asked of it, and what of its answers counts.

The authorization code flow with PKCE (OpenID Connect Core 1.0, RFC 7636, RFC 9700). Everything that is asked
for and checked stands here; the HTTP requests are made in `server.callers.oidc_provider`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from urllib.parse import urlsplit

from auth.members import KnownPerson, read_email
from auth.sealing import Seal
from auth.signed_tokens import SKEW_SECONDS, Claims, Refusal, TokenRefusedError
from auth.tokens import same_digest

ATTEMPT_TIME = timedelta(minutes=15)
"""From the button to the way back: finding a password, a second factor, consent."""
_LONGEST_BACK = 1000
"""Characters of an address that is gone on to; the cookie that holds it has a limit."""
_MOST_GROUPS = 500
_LONGEST_NAME = 200
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class SignInRefusal(StrEnum):
    """Why signing in at the provider led nowhere."""

    STALE = "stale"
    """The way back belongs to no sign-in that this browser began, or to one that is over."""
    DENIED = "denied"
    """The person, or the provider, said no."""
    PROVIDER_ERROR = "provider error"
    """The provider says that something is wrong with the request."""
    UNAVAILABLE = "unavailable"
    """The provider does not answer, or not as it should."""
    NOT_GENUINE = "not genuine"
    """What came back was not made by the provider, for us, for this sign-in."""
    CLOCK = "clock"
    NO_EMAIL = "no email"
    NOT_VERIFIED = "not verified"


class SignInRefusedError(Exception):
    """Nobody is signed in.

    Attributes:
        refusal: why.
        detail: what the provider or a check says, for the log and the admin; never a secret.
    """

    def __init__(self, refusal: SignInRefusal, detail: str = "") -> None:
        super().__init__(f"{refusal.value}: {detail}" if detail else refusal.value)
        self.refusal = refusal
        self.detail = detail


@dataclass(frozen=True)
class Provider:
    """What a provider publishes of itself (OpenID Connect Discovery 1.0).

    Attributes:
        issuer: its name, compared letter by letter.
        authorization_endpoint: where people sign in.
        token_endpoint: where a code becomes tokens.
        keys_url: where its keys are.
        userinfo_endpoint: where more about a person is told, or empty.
        end_session_endpoint: where people sign out of it (RP-Initiated Logout 1.0), or empty.
        takes_basic: whether the token endpoint takes the secret as HTTP Basic.
        names_itself: whether it says on the way back who it is (RFC 9207).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    keys_url: str
    userinfo_endpoint: str
    end_session_endpoint: str
    takes_basic: bool
    names_itself: bool


@dataclass(frozen=True)
class Client:
    """What the provider knows this hub by.

    Attributes:
        id: public.
        secret: empty for a client that has none; PKCE protects the code then.
        scopes: what is asked for, separated by blanks.
        groups_claim: which claim holds a person's groups.
    """

    id: str
    secret: str
    scopes: str
    groups_claim: str


@dataclass(frozen=True)
class Attempt:
    """Somebody is on the way to the provider and back.

    Attributes:
        state: comes back with the code, and so shows that this browser began.
        nonce: comes back in the identity token.
        verifier: shows that whoever redeems the code has asked for it.
        back: path on this hub to go on to.
        enter_by: first moment at which it is too late (UTC, whole seconds).
    """

    state: str
    nonce: str
    verifier: str
    back: str
    enter_by: datetime


@dataclass(frozen=True)
class Tokens:
    """What a code became."""

    id_token: str
    access_token: str


class AttemptSeal:
    """Writes and reads attempts as texts for a cookie; who holds the cookie may read them.

    Its arguments are those of `Seal`.
    """

    def __init__(self, secret: str, accepted: Sequence[str] = ()) -> None:
        self._seal = Seal(secret, "sign-in attempt 1", accepted)

    def write(self, attempt: Attempt) -> str:
        """An attempt as text."""
        return self._seal.write(
            {
                "state": attempt.state,
                "nonce": attempt.nonce,
                "verifier": attempt.verifier,
                "back": attempt.back,
                "by": int(attempt.enter_by.timestamp()),
            }
        )

    def read(self, text: str, now: datetime) -> Attempt | None:
        """The attempt of a text; None if it is over, or not ours."""
        fields = self._seal.read(text)
        if fields is None:
            return None
        attempt = Attempt(
            state=str(fields["state"]),
            nonce=str(fields["nonce"]),
            verifier=str(fields["verifier"]),
            back=str(fields["back"]),
            enter_by=datetime.fromtimestamp(int(fields["by"]), UTC),
        )
        return attempt if now < attempt.enter_by else None


def new_attempt(back: str, otherwise: str, now: datetime) -> Attempt:
    """An attempt with fresh random values.

    Args:
        back: path on this hub to go on to.
        otherwise: the path instead of one that is too long to be kept.
        now: this moment.
    """
    kept = back if back.isascii() and len(back) <= _LONGEST_BACK else otherwise
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    return Attempt(state, nonce, verifier, kept, now + ATTEMPT_TIME)


def read_provider(document: object, issuer: str) -> Provider:
    """What a provider's discovery document says.

    Raises:
        SignInRefusedError: UNAVAILABLE, it is none of this issuer, or names no endpoint that may be used.
    """
    if not isinstance(document, dict):
        raise SignInRefusedError(SignInRefusal.UNAVAILABLE, "the discovery document is no object")
    if document.get("issuer") != issuer:
        raise SignInRefusedError(
            SignInRefusal.UNAVAILABLE,
            f"the discovery document is that of {document.get('issuer')!r}, not of {issuer!r}",
        )
    methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    return Provider(
        issuer=issuer,
        authorization_endpoint=_endpoint(document, "authorization_endpoint", issuer),
        token_endpoint=_endpoint(document, "token_endpoint", issuer),
        keys_url=_endpoint(document, "jwks_uri", issuer),
        userinfo_endpoint=(
            _endpoint(document, "userinfo_endpoint", issuer)
            if document.get("userinfo_endpoint")
            else ""
        ),
        end_session_endpoint=_way_out(document),
        takes_basic=isinstance(methods, list) and "client_secret_basic" in methods,
        names_itself=document.get("authorization_response_iss_parameter_supported") is True,
    )


def is_safe_address(url: str) -> bool:
    """Whether an address may be that of a provider: with TLS, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (
        parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    )


def authorization_address(
    provider: Provider, client: Client, attempt: Attempt, redirect_uri: str
) -> str:
    """Where the browser is led to sign in."""
    # A hub without OpenID Connect does not need it.
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    address: str = prepare_grant_uri(
        provider.authorization_endpoint,
        client.id,
        "code",
        redirect_uri=redirect_uri,
        scope=client.scopes,
        state=attempt.state,
        nonce=attempt.nonce,
        code_challenge=create_s256_code_challenge(attempt.verifier),
        code_challenge_method="S256",
    )
    return address


def sign_out_address(provider: Provider, client: Client, return_to: str, state: str) -> str:
    """Where the browser is led to sign out of the provider; empty where it publishes no such place.

    The hub is named, and nothing else: an identity token as a hint would stand in logs and in the history.

    Args:
        provider: where.
        client: what it knows this hub by.
        return_to: address of this hub to come back to; one that the provider knows.
        state: comes back with that.
    """
    from authlib.common.urls import add_params_to_uri

    if not provider.end_session_endpoint:
        return ""
    told = {"client_id": client.id, "post_logout_redirect_uri": return_to, "state": state}
    address: str = add_params_to_uri(provider.end_session_endpoint, list(told.items()))
    return address


def code_of_answer(query: Mapping[str, str], attempt: Attempt | None, provider: Provider) -> str:
    """The code on the way back, if it belongs to what this browser began.

    Raises:
        SignInRefusedError: it does not, or the provider said no.
    """
    if attempt is None or not same_digest(query.get("state", ""), attempt.state):
        raise SignInRefusedError(SignInRefusal.STALE)
    # Two providers that a browser visits at once must not be taken for one another.
    named = query.get("iss")
    if (named is not None and named != provider.issuer) or (
        named is None and provider.names_itself
    ):
        raise SignInRefusedError(SignInRefusal.NOT_GENUINE, "the answer is another provider's")
    error = query.get("error")
    if error:
        detail = f"{error} {query.get('error_description', '')}".strip()[:_LONGEST_NAME]
        is_denied = error in {"access_denied", "login_required", "consent_required"}
        raise SignInRefusedError(
            SignInRefusal.DENIED if is_denied else SignInRefusal.PROVIDER_ERROR, detail
        )
    code = query.get("code", "")
    if not code:
        raise SignInRefusedError(SignInRefusal.PROVIDER_ERROR, "there is no code in the answer")
    return code


def check_id_token(
    claims: Claims,
    header: Mapping[str, object],
    client: Client,
    attempt: Attempt,
    access_token: str,
) -> None:
    """What an identity token must say besides its issuer, audience and time (OpenID Connect, 3.1.3.7).

    Raises:
        SignInRefusedError: NOT_GENUINE, it was made for another sign-in, client or access token.
    """
    from authlib.oidc.core import CodeIDToken
    from joserfc.errors import JoseError

    params = {"nonce": attempt.nonce, "client_id": client.id, "access_token": access_token}
    token = CodeIDToken(dict(claims), dict(header), params=params)
    try:
        token.validate(leeway=SKEW_SECONDS)
    except JoseError as problem:
        raise SignInRefusedError(SignInRefusal.NOT_GENUINE, str(problem)) from problem


def refused_token(problem: TokenRefusedError) -> SignInRefusedError:
    """What a token that counts for nothing means for who wants to sign in."""
    is_clock = problem.refusal in {Refusal.EXPIRED, Refusal.NOT_YET}
    refusal = SignInRefusal.CLOCK if is_clock else SignInRefusal.NOT_GENUINE
    return SignInRefusedError(refusal, f"the identity token: {problem.refusal.value}")


def read_person(claims: Claims, client: Client) -> KnownPerson:
    """Whom the provider vouches for.

    Raises:
        SignInRefusedError: NO_EMAIL, or NOT_VERIFIED: then anybody may have typed it.
    """
    try:
        email = read_email(claims.get("email"))
    except ValueError as problem:
        raise SignInRefusedError(SignInRefusal.NO_EMAIL) from problem
    if claims.get("email_verified") is not True:
        raise SignInRefusedError(SignInRefusal.NOT_VERIFIED, email)
    name = claims.get("name")
    shown = name.strip()[:_LONGEST_NAME] if isinstance(name, str) else ""
    return KnownPerson(email, shown or email, _groups(claims.get(client.groups_claim)))


def _groups(value: object) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        return ()
    names = (one for one in listed if isinstance(one, str) and 0 < len(one) <= _LONGEST_NAME)
    return tuple(sorted(set(names)))[:_MOST_GROUPS]


def _way_out(document: Mapping[str, object]) -> str:
    """Where people sign out; what can't be used is none, for signing in does without."""
    address = document.get("end_session_endpoint")
    return address if isinstance(address, str) and is_safe_address(address) else ""


def _endpoint(document: Mapping[str, object], field: str, issuer: str) -> str:
    address = document.get(field)
    if not isinstance(address, str) or not is_safe_address(address):
        raise SignInRefusedError(SignInRefusal.UNAVAILABLE, f"{issuer} names no usable {field}")
    return address
