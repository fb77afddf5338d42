"""Texts that protobuf refuses are mended in place, wherever in a profile they stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loader.errors import ErrorCode
from loader.inspect_limits import InspectionLimits
from tests.inspecting import inspect, refusal, repaired
from tests.wire_bytes import block, line, map_entry, number, plane

BAD = b"caf\xe9 \xff\xc3\xa9"
FIXED = b"caf? ?\xc3\xa9"
"""Latin-1 and a stray byte become question marks; what is UTF-8 stays."""

DOUBLE = b"\x11" + b"\xf0" * 8


def event(*stats: bytes) -> bytes:
    return block(4, number(1, 1) + number(2, 5_000_000) + number(3, 700) + b"".join(stats))


def stat(value: bytes) -> bytes:
    return block(4, number(1, 3) + value)


def op(value: bytes) -> bytes:
    return plane("p", line() + map_entry(4, 1, value))


def profiles(text: bytes) -> dict[str, bytes]:
    """A profile for each place where it can hold a text."""
    return {
        "plane": block(1, block(2, text) + line()),
        "line": plane("p", block(3, block(2, text))),
        "line's display name": plane("p", block(3, block(11, text))),
        "event": plane("p", line("t", event(stat(block(5, text))))),
        "event's second stat": plane("p", line("t", event(stat(number(4, 1)), stat(block(5, text))))),
        "event's text behind a double": plane("p", line("t", event(stat(DOUBLE + block(5, text))))),
        "event's text without id": plane("p", line("t", event(block(4, block(5, text))))),
        "event's text before its id": plane("p", line("t", event(block(4, block(5, text) + number(1, 3))))),
        "event with a large id": plane("p", line("t", event(block(4, number(1, 300) + block(5, text))))),
        "event with a long text": plane("p", line("t", event(stat(block(5, b"x" * 200 + text))))),
        "event of 20 KB": plane("p", line("t", event(stat(block(5, b"x" * 20_000 + text))))),
        "op": op(block(2, text)),
        "op's display name": op(block(4, text)),
        "op's stat": op(block(2, "a") + block(5, number(1, 3) + block(5, text))),
        "stat": plane("p", line() + map_entry(5, 3, block(2, text))),
        "stat's description": plane("p", line() + map_entry(5, 3, block(2, "a") + block(3, text))),
        "plane's stat": plane("p", line() + block(6, number(1, 3) + block(5, text))),
        "host": plane("p", line()) + block(4, text),
        "error": plane("p", line()) + block(2, text),
        "warning": plane("p", line()) + block(3, text),
    }  # fmt: skip


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
