"""Texts that protobuf refuses are mended in place, wherever in a profile they stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import ErrorCode
from loader.inspection.limits import InspectionLimits
from tests.inspecting import inspect, refusal, repaired
from tests.text_places import event, profiles, stat
from tests.wire_bytes import block, line, plane

BAD = b"caf\xe9 \xff\xc3\xa9"
FIXED = b"caf? ?\xc3\xa9"
"""Latin-1 and a stray byte become question marks; what is UTF-8 stays."""


@pytest.mark.parametrize("place", profiles(b""))
def test_unreadable_bytes_become_question_marks(tmp_path: Path, place: str) -> None:
    inspection = inspect(tmp_path, profiles(BAD)[place])
    assert repaired(profiles(BAD)[place], inspection) == profiles(FIXED)[place]
    assert any(
        sentence.startswith("1 text in the file held bytes that are not readable (UTF-8)")
        for sentence in inspection.warnings
    )


@pytest.mark.parametrize("place", profiles(b""))
def test_readable_texts_of_any_language_stay(tmp_path: Path, place: str) -> None:
    inspection = inspect(tmp_path, profiles("größe 日本 🚀".encode())[place])
    assert inspection.repairs == ()
    assert not any("UTF-8" in sentence for sentence in inspection.warnings)


def test_bytes_of_a_stat_are_no_text(tmp_path: Path) -> None:
    binary = plane("p", line("t", event(stat(block(6, BAD)))))
    assert inspect(tmp_path, binary).repairs == ()


@pytest.mark.parametrize(
    "encoded", [b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"]
)
def test_surrogates_overlong_and_cut_characters_are_unreadable(
    tmp_path: Path, encoded: bytes
) -> None:
    profile = block(1, block(2, encoded) + line())
    fixed = block(1, block(2, b"?" * len(encoded)) + line())
    assert repaired(profile, inspect(tmp_path, profile)) == fixed


NAMES = ["plane", "line", "line's display name", "op", "op's display name", "stat", "host"]


@pytest.mark.parametrize("place", NAMES)
def test_nul_in_names_becomes_a_question_mark(tmp_path: Path, place: str) -> None:
    profile = profiles(b"a\0b\0")[place]
    inspection = inspect(tmp_path, profile)
    assert repaired(profile, inspection) == profiles(b"a?b?")[place]
    assert any(
        sentence.startswith("1 name in the file held NUL") for sentence in inspection.warnings
    )


def test_a_text_that_is_no_name_may_hold_nul(tmp_path: Path) -> None:
    assert inspect(tmp_path, profiles(b"a\0b")["event"]).repairs == ()


def test_only_so_many_texts_are_repaired(tmp_path: Path) -> None:
    limits = replace(InspectionLimits(), repairs=3)
    three = profiles(BAD)["event"] * 3
    assert len(inspect(tmp_path, three, limits).repairs) == 3
    error = refusal(tmp_path, three + profiles(BAD)["plane"], limits)
    assert error.code is ErrorCode.MALFORMED
    assert "more than 3 texts in it are not readable (UTF-8)" in error.message


def test_a_text_of_megabytes_is_checked_but_not_repaired(tmp_path: Path) -> None:
    text = b"x" + "é".encode() * (3 << 19)  # no character begins where a piece does
    assert inspect(tmp_path, profiles(text)["event"]).repairs == ()
    error = refusal(tmp_path, profiles(text + b"\xff")["event"])
    assert error.code is ErrorCode.MALFORMED
    assert "a text of 3,145,730 bytes in it is not readable (UTF-8)" in error.message
