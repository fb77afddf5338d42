"""Signed texts of other parties count only with their key, for us, now."""

from __future__ import annotations

import base64
import hmac
import json
import threading
import time
from collections.abc import Mapping

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, KeySet, OctKey, RSAKey

from auth.signed_tokens import (
    KeysUnavailableError,
    PublishedKeys,
    Refusal,
    TokenReader,
    TokenRefusedError,
    read_keys,
)

ISSUER, AUDIENCE = "https://issuer.example", "us"
NOW = 1_800_000_000.0
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
ELLIPTIC = ECKey.generate_key("P-256", {"kid": "ec"})
PUBLISHED = KeySet([RSA, ELLIPTIC]).as_dict(private=False)
CLAIMS = {"iss": ISSUER, "aud": AUDIENCE, "iat": NOW - 10, "exp": NOW + 600, "sub": "1"}


def reader_of(document: object = PUBLISHED, **values: object) -> TokenReader:
    settings: dict[str, object] = {
        "issuers": frozenset({ISSUER}),
        "audience": AUDIENCE,
        "keys": PublishedKeys(lambda: document),
        "clock": lambda: NOW,
    }
    return TokenReader(**{**settings, **values})  # type: ignore[arg-type]


def signed(
    key: Key = RSA,
    algorithm: str = "RS256",
    claims: Mapping[str, object] | None = None,
    **header: object,
) -> str:
    whole = {**CLAIMS, **(claims or {})}
    return jwt.encode(
        {"alg": algorithm, "kid": key.kid, **header},
        {name: value for name, value in whole.items() if value is not None},
        key,
        algorithms=[algorithm],
    )


def refusal_of(token: str, reader: TokenReader | None = None) -> Refusal:
    with pytest.raises(TokenRefusedError) as caught:
        (reader or reader_of()).read(token)
    return caught.value.refusal


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("key", "algorithm"), [(RSA, "RS256"), (RSA, "PS384"), (ELLIPTIC, "ES256")]
)
def test_what_the_issuer_signed_counts(key: Key, algorithm: str) -> None:
    claims, header = reader_of().read(signed(key, algorithm))
    assert claims == CLAIMS
    assert header["alg"] == algorithm


@pytest.mark.parametrize(
    ("claims", "refusal"),
    [
        ({"iss": ISSUER + "/"}, Refusal.ISSUER),
        ({"iss": None}, Refusal.ISSUER),
        ({"aud": "them"}, Refusal.AUDIENCE),
        ({"aud": None}, Refusal.AUDIENCE),
        ({"aud": [AUDIENCE]}, Refusal.AUDIENCE),
        ({"exp": NOW - 31}, Refusal.EXPIRED),
        ({"exp": None}, Refusal.UNREADABLE),
        ({"exp": "9999999999"}, Refusal.UNREADABLE),
        ({"exp": True}, Refusal.UNREADABLE),
        ({"iat": NOW + 31}, Refusal.NOT_YET),
        ({"iat": None}, Refusal.UNREADABLE),
        ({"nbf": NOW + 31}, Refusal.NOT_YET),
    ],
)
def test_what_it_signed_for_others_or_other_times_does_not(
    claims: dict[str, object], refusal: Refusal
) -> None:
    assert refusal_of(signed(claims=claims)) is refusal


def test_clocks_may_differ_by_half_a_minute() -> None:
    for claims in ({"exp": NOW - 29}, {"iat": NOW + 29}, {"nbf": NOW + 29}):
        reader_of().read(signed(claims=claims))


def test_a_list_of_audiences_counts_where_it_may() -> None:
    reader = reader_of(takes_lists=True)
    reader.read(signed(claims={"aud": ["them", AUDIENCE]}))
    assert refusal_of(signed(claims={"aud": ["them"]}), reader) is Refusal.AUDIENCE


def test_another_key_of_the_same_name_does_not_count() -> None:
    other = RSAKey.generate_key(2048, {"kid": "rsa"})
    assert refusal_of(signed(other)) is Refusal.UNSIGNED


def test_a_published_key_is_no_shared_secret() -> None:
    """The classic confusion: the public key's text, taken for the secret of HS256."""
    pem = RSA.as_pem(private=False)
    text = f"{part({'alg': 'HS256', 'kid': 'rsa'})}.{part(CLAIMS)}"
    code = hmac.new(pem, text.encode(), "sha256").digest()
    token = f"{text}.{base64.urlsafe_b64encode(code).decode().rstrip('=')}"
    assert refusal_of(token) is Refusal.UNSIGNED
    assert refusal_of(token, reader_of({"rsa": pem.decode()})) is (Refusal.UNSIGNED)


@pytest.mark.parametrize("algorithm", ["none", "None", "", "HS256", None, 1])
def test_no_signature_is_none(algorithm: object) -> None:
    token = f"{part({'alg': algorithm, 'kid': 'rsa'})}.{part(CLAIMS)}."
    assert refusal_of(token) in {Refusal.UNSIGNED, Refusal.UNREADABLE}


@pytest.mark.parametrize(
    "odd",
    [
        {"alg": ["RS256"]},
        {"alg": {}},
        {"kid": ["rsa"]},
        {"kid": {}},
        {"crit": 5},
        {"crit": ["b64"]},
    ],
)
def test_a_header_of_other_types_is_refused_and_no_fault(odd: dict[str, object]) -> None:
    """Everybody may send one: behind Google's proxy to any page, and where buckets tell of new files."""
    token = f"{part({'alg': 'RS256', 'kid': 'rsa', **odd})}.{part(CLAIMS)}.{part('x')}"
    assert refusal_of(token) in {Refusal.UNSIGNED, Refusal.UNREADABLE}


def test_what_must_be_understood_and_is_not_makes_a_signed_token_worthless() -> None:
    text = json.dumps(CLAIMS).encode()
    header = {"alg": "RS256", "kid": "rsa", "b64": True, "crit": ["b64"]}
    token = jws.serialize_compact(header, text, RSA)
    assert refusal_of(token) is Refusal.UNSIGNED


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_time_that_is_no_number_never_comes(number: str) -> None:
    text = json.dumps({**CLAIMS, "exp": 0}).replace('"exp": 0', f'"exp": {number}')
    token = jws.serialize_compact({"alg": "RS256", "kid": "rsa"}, text.encode(), RSA)
    assert refusal_of(token) is Refusal.UNREADABLE
    listed = json.dumps({**CLAIMS, "iss": [ISSUER]}).encode()
    token = jws.serialize_compact({"alg": "RS256", "kid": "rsa"}, listed, RSA)
    assert refusal_of(token) is Refusal.ISSUER


def test_a_known_key_is_there_while_the_issuer_is_slow_about_another() -> None:
    """Forged tokens make a hub ask; nobody who has a real one waits for that."""
    is_asked, may_answer = threading.Event(), threading.Event()
    times = [0.0]

    def fetch() -> object:
        if times[0] > 0:
            is_asked.set()
            may_answer.wait(60)
        return PUBLISHED

    keys = PublishedKeys(fetch, lambda: times[0])
    assert keys.find("rsa") is not None
    times[0] = 61.0
    forged = threading.Thread(target=keys.find, args=("forged",), daemon=True)
    forged.start()
    try:
        assert is_asked.wait(60)
        assert keys.find("rsa") is not None
        assert not may_answer.is_set()
    finally:
        may_answer.set()
        forged.join(60)


def test_an_algorithm_that_is_not_asked_for_does_not_count() -> None:
    reader = reader_of(algorithms=frozenset({"ES256"}))
    assert refusal_of(signed(), reader) is Refusal.UNSIGNED
    reader.read(signed(ELLIPTIC, "ES256"))


def test_a_key_within_the_token_is_not_asked() -> None:
    own = RSAKey.generate_key(2048, {"kid": "own"})
    token = signed(own, jwk=own.as_dict(private=False))
    assert refusal_of(token) in {Refusal.UNSIGNED, Refusal.UNREADABLE}


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "a.b.c.d.e", "é.é.é", "a" * 20_000])
def test_nonsense_is_refused(token: str) -> None:
    assert refusal_of(token) is Refusal.UNREADABLE


def test_a_changed_claim_breaks_the_signature() -> None:
    head, _, tail = signed().split(".")
    assert refusal_of(f"{head}.{part({**CLAIMS, 'sub': '2'})}.{tail}") is Refusal.UNSIGNED


def test_without_a_name_the_only_key_is_meant() -> None:
    only = KeySet([RSA]).as_dict(private=False)
    token = jwt.encode({"alg": "RS256"}, CLAIMS, RSA)
    reader_of(only).read(token)
    assert refusal_of(token) is Refusal.UNSIGNED


def test_keys_in_pem_count_as_google_publishes_them() -> None:
    document = {"rsa": RSA.as_pem(private=False).decode(), "ec": ELLIPTIC.as_pem(False).decode()}
    reader_of(document).read(signed())
    reader_of(document).read(signed(ELLIPTIC, "ES256"))


def test_keys_that_check_no_signature_are_left_out() -> None:
    secret = OctKey.import_key("secret", {"kid": "secret"}).as_dict()
    locks = {**RSA.as_dict(private=False), "use": "enc", "kid": "lock"}
    strange = {"kty": "QUANTUM", "kid": "q"}
    found = read_keys({"keys": [secret, locks, strange, "x", *PUBLISHED["keys"]]})
    assert set(found) == {"rsa", "ec"}
    assert set(read_keys({"a": "nonsense", "b": 1})) == set()


@pytest.mark.parametrize("document", [None, [], "x"])
def test_what_is_no_set_of_keys_is_as_if_nobody_answered(document: object) -> None:
    with pytest.raises(KeysUnavailableError):
        reader_of(document).read(signed())


def test_a_new_key_is_found_once_a_minute_has_gone() -> None:
    documents, times = [KeySet([RSA]).as_dict(private=False), PUBLISHED], [0.0]
    keys = PublishedKeys(lambda: documents.pop(0), lambda: times[0])
    reader = reader_of(keys=keys)
    reader.read(signed())
    assert refusal_of(signed(ELLIPTIC, "ES256"), reader) is Refusal.UNSIGNED
    times[0] = 61.0
    reader.read(signed(ELLIPTIC, "ES256"))
    assert documents == []


def test_the_clock_is_the_machines_unless_told() -> None:
    claims = {"iat": time.time() - 5, "exp": time.time() + 5}
    TokenReader(frozenset({ISSUER}), AUDIENCE, PublishedKeys(lambda: PUBLISHED)).read(
        signed(claims=claims)
    )
