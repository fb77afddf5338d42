"""Pushes count only with a token that the issuer signed for our account and audience."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

import pytest

from auth.push_tokens import PushVerifier
from auth.signed_tokens import KeysUnavailableError, PublishedKeys
from tests.push_signing import ACCOUNT, AUDIENCE, Issuer

ISSUER = Issuer()


class Keys:
    """Published keys, and how often they were fetched."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        self.keys = dict(keys)
        self.fetched = 0

    def __call__(self) -> Mapping[str, str]:
        self.fetched += 1
        return self.keys


def verifier_of(keys: Keys, times: list[float] | None = None) -> PushVerifier:
    published = PublishedKeys(keys, lambda: times[0] if times else 0.0)
    return PushVerifier(AUDIENCE, ACCOUNT, published)


def test_a_token_of_the_account_counts() -> None:
    assert verifier_of(Keys(ISSUER.keys)).is_genuine(ISSUER.header())
    assert verifier_of(Keys(ISSUER.keys)).is_genuine(
        ISSUER.header(claims={"iss": "accounts.google.com"})
    )


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://elsewhere.example"},
        {"aud": [AUDIENCE]},
        {"email": "other@project.iam.gserviceaccount.com"},
        {"email_verified": False},
        {"email_verified": "true"},
        {"iss": "https://accounts.google.com.evil.example"},
        {"exp": 1},
        {"iat": 99999999999, "exp": 99999999999},
    ],
)
def test_any_other_claim_does_not(claims: dict[str, object]) -> None:
    assert not verifier_of(Keys(ISSUER.keys)).is_genuine(ISSUER.header(claims=claims))


def test_an_old_token_does_not() -> None:
    assert not verifier_of(Keys(ISSUER.keys)).is_genuine(ISSUER.header(age=3700))


def test_another_issuers_key_of_the_same_name_does_not() -> None:
    assert not verifier_of(Keys(ISSUER.keys)).is_genuine(Issuer().header())


def deep() -> str:
    """JSON that no parser follows to its end, in a token that is short enough to be looked at."""
    return base64.urlsafe_b64encode(b"[" * 5000).decode().rstrip("=")


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer x",
        "Bearer a.b.c",
        "Basic " + ISSUER.header().partition(" ")[2],
        f"Bearer {part({'alg': 'none', 'kid': 'k1'})}.{part({'email': ACCOUNT})}.",
        f"Bearer {part({'alg': 'HS256', 'kid': 'k1'})}.{part({'email': ACCOUNT})}.AAAA",
        f"Bearer {part({'alg': 'RS256'})}.{part({'email': ACCOUNT})}.AAAA",
        f"Bearer {part({'alg': 'RS256', 'kid': ['k1']})}.{part({'email': ACCOUNT})}.AAAA",
        f"Bearer {part(['k1'])}.{part({})}.AAAA",
        f"Bearer {deep()}.{part({})}.AAAA",
        f"Bearer {part({'alg': 'RS256', 'kid': 'k1'})}.{deep()}.AAAA",
        "Bearer " + "a" * 9000,
    ],
)
def test_nonsense_does_not(header: str | None) -> None:
    assert not verifier_of(Keys(ISSUER.keys)).is_genuine(header)


def test_keys_are_kept_an_hour_and_a_new_one_is_asked_for_once_a_minute() -> None:
    keys, times = Keys(ISSUER.keys), [0.0]
    verifier = verifier_of(keys, times)
    newer = Issuer("k2")
    for _ in range(5):
        assert verifier.is_genuine(ISSUER.header())
        assert not verifier.is_genuine(newer.header())
    assert keys.fetched == 1
    keys.keys.update(newer.keys)
    times[0] = 61.0
    assert verifier.is_genuine(newer.header())
    assert keys.fetched == 2
    times[0] = 61.0 + 3601.0
    assert verifier.is_genuine(newer.header())
    assert keys.fetched == 3


def test_without_keys_nothing_is_decided() -> None:
    def none() -> Mapping[str, str]:
        raise KeysUnavailableError

    verifier = PushVerifier(AUDIENCE, ACCOUNT, PublishedKeys(none))
    with pytest.raises(KeysUnavailableError):
        verifier.is_genuine(ISSUER.header())


def test_an_issuer_who_does_not_answer_is_not_asked_for_every_forged_token() -> None:
    asked, times = [], [0.0]

    def none() -> Mapping[str, str]:
        asked.append(times[0])
        raise KeysUnavailableError

    verifier = PushVerifier(AUDIENCE, ACCOUNT, PublishedKeys(none, lambda: times[0]))
    for moment in (0.0, 1.0, 30.0, 61.0, 62.0):
        times[0] = moment
        with pytest.raises(KeysUnavailableError):
            verifier.is_genuine(Issuer().header())
    assert asked == [0.0, 61.0]
