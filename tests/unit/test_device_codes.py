"""The two codes of a program that asks to be let in (RFC 8628, 6.1)."""

from __future__ import annotations

import re

import pytest

from auth.device_codes import new_device_code, new_user_code, read_user_code


def test_short_codes_hold_no_vowel_and_no_digit() -> None:
    codes = {new_user_code() for _ in range(1000)}
    assert len(codes) > 990
    assert all(
        re.fullmatch(r"[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", c) for c in codes
    )
    assert all(read_user_code(code) == code for code in codes)


def test_long_codes_are_long() -> None:
    assert len({new_device_code() for _ in range(100)}) == 100
    # 256 bits in base64url.
    assert len(new_device_code()) == 43


@pytest.mark.parametrize(
    "typed", ["WDJB-MJHT", "wdjbmjht", " wdjb mjht ", "W D J B - M J H T", "wdjb\u2013mjht"]
)
def test_codes_are_read_however_they_are_typed(typed: str) -> None:
    assert read_user_code(typed) == "WDJB-MJHT"


@pytest.mark.parametrize("typed", ["", "WDJB", "WDJB-MJHTT", "WDJA-MJHT", "12345678", "x" * 5000])
def test_nothing_else_is_a_code(typed: str) -> None:
    assert read_user_code(typed) == ""
