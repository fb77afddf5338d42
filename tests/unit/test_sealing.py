"""Sealed texts: only what this service wrote, for this purpose, unchanged, is read."""

from __future__ import annotations

import re
import secrets

import pytest

from auth.sealing import Fields, Seal

FIELDS: Fields = {"token": "0123", "expires": 1_900_000_000, "text": "é\n\"'🚀"}


def test_what_was_written_is_read() -> None:
    text = Seal("secret", "purpose").write(FIELDS)
    assert re.fullmatch(r"[\w-]+", text, re.ASCII), "it stands in cookies and addresses as it is"
    assert Seal("secret", "purpose").read(text) == FIELDS


@pytest.mark.parametrize("other", [Seal("other", "purpose"), Seal("secret", "other")])
def test_another_secret_or_purpose_reads_nothing(other: Seal) -> None:
    assert other.read(Seal("secret", "purpose").write(FIELDS)) is None


def test_no_character_can_be_changed_left_out_or_added() -> None:
    seal = Seal("secret", "purpose")
    text = seal.write({"a": 1})
    for place, character in enumerate(text[:-1]):
        other = "A" if character != "A" else "B"
        assert seal.read(text[:place] + other + text[place + 1 :]) is None
        assert seal.read(text[:place] + text[place + 1 :]) is None
        assert seal.read(text[:place]) is None
    assert seal.read(text + "AAAA") is None


@pytest.mark.parametrize("nonsense", ["", "A", "é", "\0", "=" * 8, "a.b", "A" * 10_000_000])
def test_nonsense_is_nothing(nonsense: str) -> None:
    assert Seal("secret", "purpose").read(nonsense) is None


def test_random_texts_are_nothing() -> None:
    seal = Seal("secret", "purpose")
    assert not any(seal.read(secrets.token_urlsafe(n)) for n in range(1, 200))
