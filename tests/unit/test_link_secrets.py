"""Passwords of links, and what browsers keep of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from auth.link_seals import LONGEST, LinkSeals
from auth.links import RunTarget, ShareLink
from auth.passwords import check_password, hash_password, password_matches

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TICK = timedelta(seconds=1)


def link(**values: object) -> ShareLink:
    made = ShareLink("l1", RunTarget("r", "u"), NOW, None, None, 0, "", "me")
    return replace(made, **values)  # type: ignore[arg-type]


def test_a_password_matches_itself_only() -> None:
    kept = hash_password("correct horse")
    assert kept != hash_password("correct horse")
    assert kept.startswith("scrypt$16384$8$1$")
    assert "correct" not in kept
    assert password_matches("correct horse", kept)
    for wrong in ("", "correct hors", "correct horse ", "Correct horse", "x" * 10_000):
        assert not password_matches(wrong, kept)


def test_the_kept_text_says_how_it_was_made() -> None:
    """The vector of RFC 7914, section 12, for N=1024, r=8, p=16: its first 32 bytes are what scrypt keeps."""
    kept = "scrypt$1024$8$16$TmFDbA==$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI="
    assert password_matches("password", kept)
    assert not password_matches("passwort", kept)
    with pytest.raises(ValueError, match="not known here"):
        password_matches("x", kept.replace("scrypt", "md5"))


@pytest.mark.parametrize("text", ["", "1234567", "x" * 201])
def test_a_password_has_a_length(text: str) -> None:
    with pytest.raises(ValueError, match="8 to 200 characters"):
        check_password(text)
    with pytest.raises(ValueError, match="8 to 200 characters"):
        hash_password(text)


def test_a_key_is_for_one_link_one_password_and_a_day() -> None:
    seals, locked = LinkSeals("secret"), link(password_hash="scrypt$a")
    sealed = seals.write_key(locked, NOW)
    assert sealed.expires == NOW + LONGEST == NOW + timedelta(hours=24)
    assert seals.is_key(sealed.text, locked, NOW + LONGEST - TICK)
    assert not seals.is_key(sealed.text, locked, NOW + LONGEST)
    assert not seals.is_key(sealed.text, replace(locked, id="l2"), NOW)
    assert not seals.is_key(sealed.text, replace(locked, password_hash="scrypt$b"), NOW)
    assert not seals.is_key("", locked, NOW)
    assert not seals.is_key(sealed.text[:-1], locked, NOW)
    assert not LinkSeals("another").is_key(sealed.text, locked, NOW)


def test_an_opening_is_no_key_and_a_key_no_opening() -> None:
    seals, locked = LinkSeals("secret"), link(password_hash="scrypt$a")
    opening, key = seals.write_opening(locked, NOW), seals.write_key(locked, NOW)
    assert seals.is_opening(opening.text, locked, NOW)
    assert not seals.is_key(opening.text, locked, NOW)
    assert not seals.is_opening(key.text, locked, NOW)


def test_what_is_kept_ends_with_the_link() -> None:
    seals, ending = LinkSeals("secret"), link(expires=NOW + timedelta(minutes=5))
    assert seals.write_key(ending, NOW).expires == NOW + timedelta(minutes=5)
    assert seals.write_opening(ending, NOW).expires == NOW + timedelta(minutes=5)
