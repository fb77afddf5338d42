"""Tokens: their shape, their digest, and that `redact` lets none through."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest

from auth.tokens import hash_token, new_api_token, new_link_token, redact, same_digest


def percent_encode_everything(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def test_tokens_hold_256_random_bits_behind_their_prefix() -> None:
    for token, prefix in ((new_link_token(), "xph_"), (new_api_token(), "xpa_")):
        assert token.startswith(prefix)
        assert len(base64.urlsafe_b64decode(token[4:] + "=")) == 32


def test_no_two_tokens_are_alike() -> None:
    assert len({new_link_token() for _ in range(1000)}) == 1000


def test_the_digest_is_sha256_and_takes_any_text() -> None:
    assert hash_token("abc") == hashlib.sha256(b"abc").hexdigest()
    assert len(hash_token("\udc80\0ü")) == 64


def test_digests_are_compared_wholly() -> None:
    digest = hash_token("a")
    assert same_digest(digest, digest)
    assert not same_digest(digest, digest[:-1])
    assert not same_digest(digest, digest.upper())


@pytest.mark.parametrize("new_token", [new_link_token, new_api_token])
@pytest.mark.parametrize(
    "write",
    [
        lambda token: token,
        lambda token: f"GET /team/s/{token}/data/plugin/profile/?a=1",
        lambda token: json.dumps({"Authorization": f"Bearer {token}"}),
        lambda token: f"cut off: {token[:20]}",
        lambda token: f"two:{token}{token}",
        lambda token: quote(f"/s/{token}/x", safe=""),
        lambda token: token.replace("_", "%5F").replace("-", "%2d"),
        percent_encode_everything,
        lambda token: quote(percent_encode_everything(token)),
        lambda token: quote(quote(percent_encode_everything(token))),
        lambda token: token[:10] + percent_encode_everything(token[10:20]) + token[20:],
    ],
)
def test_redact_leaves_nothing_of_a_token(
    new_token: Callable[[], str], write: Callable[[str], str]
) -> None:
    token = new_token()
    cleaned = redact(write(token))
    assert f"{token[:4]}…" in cleaned
    secret = token[4:]
    for piece in (secret[:6], secret[8:14], secret[-6:]):
        assert piece not in cleaned
        assert percent_encode_everything(piece) not in cleaned


def test_redact_keeps_what_surrounds_a_token() -> None:
    token = new_link_token()
    assert redact(f"/s/{token}/data?run=a%20b&x=1") == "/s/xph_…/data?run=a%20b&x=1"
    assert redact(f'"{token}", next') == '"xph_…", next'


def test_redact_leaves_nothing_of_a_signed_token() -> None:
    payload = "eyJhdWQiOiJodHRwczovL3dvcmtlciJ9"
    for token in (
        f"eyJhbGciOiJSUzI1NiJ9.{payload}.c2lnbmF0dXJl",
        f"eyJhbGciOiJSUzI1NiJ9.{payload}",
    ):
        assert redact(f"Bearer {token}, next") == "Bearer eyJ…, next"


def test_redact_changes_no_other_text() -> None:
    for text in ("", "xph", "xph_", "the prefix xph_ alone", "%78%70", "hxp_abc", "/runs/a%2Fb"):
        assert redact(text) == text
    assert redact(redact(new_link_token())) == "xph_…"
