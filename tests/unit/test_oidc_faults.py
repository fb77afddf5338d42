"""A provider that is down, wrong or taken over: nobody is signed in, and it is said why."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from auth.members import KnownPerson
from auth.oidc import (
    Attempt,
    AttemptSeal,
    Client,
    SignInRefusal,
    SignInRefusedError,
    is_safe_address,
    new_attempt,
    read_person,
    read_provider,
)
from server.callers.oidc_provider import OidcProvider
from tests.services.scripted import Scripted, ScriptedServer

KEY = RSAKey.generate_key(2048, {"kid": "k"})
KEYS = KeySet([KEY]).as_dict(private=False)
CLIENT = Client("hub", "secret", "openid email", "groups")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ATTEMPT = Attempt("state", "nonce", "verifier", "/runs", NOW)
ANSWER = {"state": "state", "code": "c"}
REDIRECT = "https://hub.example/signin/callback"
R = SignInRefusal


class FakeProvider:
    """Answers in the order in which a hub asks: discovery, code, keys, and userinfo."""

    def __init__(self, server: ScriptedServer) -> None:
        self.server = server
        self.issuer = server.url

    def discovery(self, **values: object) -> Scripted:
        named = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/me",
        }
        return Scripted(200, {**named, **values})

    def claims(self, **values: object) -> dict[str, object]:
        now = int(time.time())
        named = {
            "iss": self.issuer,
            "aud": "hub",
            "sub": "1",
            "nonce": "nonce",
            "iat": now,
            "exp": now + 300,
            "email": "Ann@example.org",
            "email_verified": True,
            "groups": ["sre", 1, "sre", ""],
        }
        return {name: value for name, value in {**named, **values}.items() if value is not None}

    def token(self, **values: object) -> Scripted:
        return self.token_by(KEY, **values)

    def token_by(self, key: RSAKey, **values: object) -> Scripted:
        return tokens(jwt.encode({"alg": "RS256", "kid": "k"}, self.claims(**values), key))

    def answers(self, *answers: Scripted) -> None:
        self.server.answers[:] = [*answers, Scripted(500, {})]

    def person(self, query: Mapping[str, str] | None = None) -> KnownPerson:
        provider = OidcProvider(self.issuer, CLIENT)
        return provider.person_of_answer(query or ANSWER, ATTEMPT, REDIRECT)

    def refusal(self, query: Mapping[str, str] | None = None) -> SignInRefusal:
        with pytest.raises(SignInRefusedError) as caught:
            self.person(query)
        assert "secret" not in str(caught.value)
        return caught.value.refusal


def tokens(id_token: object, **values: object) -> Scripted:
    return Scripted(200, {"access_token": "a", "id_token": id_token, **values})


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.fixture
def fake(scripted: ScriptedServer) -> FakeProvider:
    return FakeProvider(scripted)


def test_claims_of_the_token_are_enough_where_it_has_them(fake: FakeProvider) -> None:
    fake.answers(fake.discovery(), fake.token(), Scripted(200, KEYS))
    person = fake.person()
    assert person == read_person(fake.claims(), CLIENT)
    assert (person.email, person.groups) == ("ann@example.org", ("sre",))
    assert [path for _, path in fake.server.requests] == [
        "/.well-known/openid-configuration",
        "/token",
        "/keys",
    ]


@pytest.mark.parametrize(
    ("claims", "refusal"),
    [
        ({"nonce": "another"}, R.NOT_GENUINE),
        ({"nonce": None}, R.NOT_GENUINE),
        ({"iss": "https://evil.example"}, R.NOT_GENUINE),
        ({"aud": "another client"}, R.NOT_GENUINE),
        ({"aud": ["another client"]}, R.NOT_GENUINE),
        ({"aud": ["hub", "another"]}, R.NOT_GENUINE),
        ({"aud": ["hub", "another"], "azp": "another"}, R.NOT_GENUINE),
        ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, R.NOT_GENUINE),
        ({"sub": None}, R.NOT_GENUINE),
        ({"exp": 1_700_000_000}, R.CLOCK),
        ({"iat": 9_000_000_000, "exp": 9_000_000_300}, R.CLOCK),
        ({"email_verified": False}, R.NOT_VERIFIED),
        ({"email_verified": "true"}, R.NOT_VERIFIED),
        ({"email_verified": None}, R.NOT_VERIFIED),
        ({"email": "no address"}, R.NO_EMAIL),
        ({"email": ["ann@example.org"]}, R.NO_EMAIL),
    ],
)
def test_a_token_with_another_claim_signs_nobody_in(
    fake: FakeProvider, claims: dict[str, object], refusal: SignInRefusal
) -> None:
    fake.answers(fake.discovery(), fake.token(**claims), Scripted(200, KEYS))
    assert fake.refusal() is refusal


def test_a_token_for_several_counts_when_it_is_made_for_us(fake: FakeProvider) -> None:
    token = fake.token(aud=["hub", "another"], azp="hub")
    fake.answers(fake.discovery(), token, Scripted(200, KEYS))
    assert fake.person()


def test_a_token_of_another_key_signs_nobody_in(fake: FakeProvider) -> None:
    other = RSAKey.generate_key(2048, {"kid": "k"})
    fake.answers(fake.discovery(), fake.token_by(other), Scripted(200, KEYS))
    assert fake.refusal() is R.NOT_GENUINE


def test_a_token_without_a_real_signature_signs_nobody_in(fake: FakeProvider) -> None:
    unsigned = f"{part({'alg': 'none', 'kid': 'k'})}.{part(fake.claims())}."
    text = f"{part({'alg': 'HS256', 'kid': 'k'})}.{part(fake.claims())}"
    for secret in (KEY.as_pem(private=False), b"secret"):
        code = hmac.new(secret, text.encode(), "sha256").digest()
        forged = f"{text}.{base64.urlsafe_b64encode(code).decode().rstrip('=')}"
        for token in (unsigned, forged):
            fake.answers(fake.discovery(), tokens(token), Scripted(200, KEYS))
            assert fake.refusal() is R.NOT_GENUINE


def test_userinfo_of_somebody_else_signs_nobody_in(fake: FakeProvider) -> None:
    without = fake.token(email=None, email_verified=None)
    about = {"sub": "2", "email": "root@example.org", "email_verified": True}
    fake.answers(fake.discovery(), without, Scripted(200, KEYS), Scripted(200, about))
    assert fake.refusal() is R.NOT_GENUINE


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"userinfo_endpoint": "//x"},
    ],
)
def test_a_discovery_document_that_is_not_the_issuers_is_not_used(
    fake: FakeProvider, document: dict[str, object]
) -> None:
    fake.answers(fake.discovery(**document))
    assert fake.refusal() is R.UNAVAILABLE
    assert len(fake.server.requests) == 1


@pytest.mark.parametrize("answer", [Scripted(0), Scripted(500, {}), Scripted(200, b"<html>")])
def test_a_provider_that_is_down_signs_nobody_in(fake: FakeProvider, answer: Scripted) -> None:
    fake.answers(answer)
    assert fake.refusal() is R.UNAVAILABLE
    fake.answers(fake.discovery(), answer)
    assert fake.refusal() is R.UNAVAILABLE
    fake.answers(fake.discovery(), fake.token(), answer)
    assert fake.refusal() is R.UNAVAILABLE
    without = fake.token(email=None)
    fake.answers(fake.discovery(), without, Scripted(200, KEYS), answer)
    assert fake.refusal() is R.UNAVAILABLE


def test_a_provider_that_is_down_is_not_asked_by_everybody(fake: FakeProvider) -> None:
    """Strangers press the button too, and each would hold a thread until the provider's time is over."""
    fake.answers(Scripted(500, {}))
    times = [0.0]
    provider = OidcProvider(fake.issuer, CLIENT, lambda: times[0])
    for second in (0.0, 1.0, 9.0):
        times[0] = second
        with pytest.raises(SignInRefusedError) as caught:
            provider.address_for(ATTEMPT, REDIRECT)
        assert caught.value.refusal is R.UNAVAILABLE
    assert len(fake.server.requests) == 1
    fake.answers(fake.discovery())
    times[0] = 11.0
    assert provider.address_for(ATTEMPT, REDIRECT).startswith(f"{fake.issuer}/auth?")


@pytest.mark.parametrize(
    "address", [None, 5, "", "http://login.example/out", "javascript:alert(1)"]
)
def test_a_way_out_that_can_t_be_used_is_none_and_people_sign_in_all_the_same(
    fake: FakeProvider, address: object
) -> None:
    fake.answers(fake.discovery(end_session_endpoint=address))
    provider = OidcProvider(fake.issuer, CLIENT)
    assert provider.sign_out_address("https://hub.example/signedout", "s") == ""
    assert provider.address_for(ATTEMPT, REDIRECT)


def test_the_way_out_names_the_hub_and_keeps_what_the_provider_wrote(fake: FakeProvider) -> None:
    fake.answers(fake.discovery(end_session_endpoint="https://login.example/out?tenant=a%20b"))
    found = OidcProvider(fake.issuer, CLIENT).sign_out_address("https://hub.example/x?y=&z", "s")
    assert found.startswith("https://login.example/out?")
    assert parse_qs(urlsplit(found).query) == {
        "tenant": ["a b"],
        "client_id": [CLIENT.id],
        "post_logout_redirect_uri": ["https://hub.example/x?y=&z"],
        "state": ["s"],
    }


def test_a_code_that_the_provider_refuses_signs_nobody_in(fake: FakeProvider) -> None:
    fake.answers(fake.discovery(), Scripted(400, {"error": "invalid_grant"}))
    assert fake.refusal() is R.PROVIDER_ERROR
    fake.answers(fake.discovery(), tokens(None))
    assert fake.refusal() is R.PROVIDER_ERROR


@pytest.mark.parametrize(
    ("query", "refusal"),
    [
        ({"code": "c"}, R.STALE),
        ({"code": "c", "state": "another"}, R.STALE),
        ({"state": "another", "error": "access_denied"}, R.STALE),
        ({"state": "state"}, R.PROVIDER_ERROR),
        ({"state": "state", "code": ""}, R.PROVIDER_ERROR),
        ({"state": "state", "error": "access_denied", "code": "c"}, R.DENIED),
        ({"state": "state", "error": "server_error"}, R.PROVIDER_ERROR),
        ({"state": "state", "code": "c", "iss": "https://evil.example"}, R.NOT_GENUINE),
    ],
)
def test_a_way_back_that_is_not_as_it_should_be_redeems_nothing(
    fake: FakeProvider, query: dict[str, str], refusal: SignInRefusal
) -> None:
    fake.answers(fake.discovery(), fake.token(), Scripted(200, KEYS))
    assert fake.refusal(query) is refusal
    assert "/token" not in {path for _, path in fake.server.requests}


def test_a_provider_that_names_itself_must_do_so(fake: FakeProvider) -> None:
    document = fake.discovery(authorization_response_iss_parameter_supported=True)
    fake.answers(document)
    assert fake.refusal() is R.NOT_GENUINE
    fake.answers(document, fake.token(), Scripted(200, KEYS))
    assert fake.person({**ANSWER, "iss": fake.issuer})


def test_without_an_attempt_nobody_is_asked(fake: FakeProvider) -> None:
    with pytest.raises(SignInRefusedError) as caught:
        OidcProvider(fake.issuer, CLIENT).person_of_answer(ANSWER, None, REDIRECT)
    assert caught.value.refusal is R.STALE
    assert fake.server.requests == []


def test_an_attempt_is_good_for_a_quarter_of_an_hour_and_for_its_hub() -> None:
    seal = AttemptSeal("secret")
    attempt = new_attempt("/team/runs", "/runs", NOW)
    text = seal.write(attempt)
    assert seal.read(text, NOW + timedelta(minutes=14)) == attempt
    assert seal.read(text, NOW + timedelta(minutes=15)) is None
    assert AttemptSeal("other").read(text, NOW) is None
    assert len({attempt.state, attempt.nonce, attempt.verifier}) == 3
    other = new_attempt("/team/runs", "/runs", NOW)
    assert {attempt.state, attempt.verifier}.isdisjoint({other.state, other.verifier})
    # What a cookie could not hold is left out, not cut off.
    longest = new_attempt("/" + "x" * 2000, "/runs", NOW)
    assert longest.back == "/runs"
    assert seal.read(seal.write(new_attempt("/" + "x" * 999, "/runs", NOW)), NOW) is not None


def test_names_and_groups_are_taken_as_they_come() -> None:
    claims = {"email": "a@b.c", "email_verified": True, "name": " Ann \n", "roles": "admin"}
    person = read_person(claims, replace(CLIENT, groups_claim="roles"))
    assert (person.name, person.groups) == ("Ann", ("admin",))
    many = {**claims, "name": 1, "roles": [f"g{number:04}" for number in range(900)]}
    person = read_person(many, replace(CLIENT, groups_claim="roles"))
    assert (person.name, len(person.groups)) == ("a@b.c", 500)


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [
        ("https://accounts.example", True),
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://accounts.example", False),
        ("http://localhost.evil.example", False),
        ("ftp://localhost", False),
        ("https://", False),
        ("https://[", False),
        ("", False),
    ],
)
def test_a_provider_is_reached_with_tls_or_on_this_machine(address: str, is_safe: bool) -> None:
    assert is_safe_address(address) is is_safe


def test_a_document_that_is_no_object_is_not_used() -> None:
    documents: list[object] = [[], None, "x"]
    for document in documents:
        with pytest.raises(SignInRefusedError):
            read_provider(document, "https://accounts.example")
