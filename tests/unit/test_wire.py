"""The wire format, against https://protobuf.dev/programming-guides/encoding/."""

from __future__ import annotations

import pytest

from loader.inspection.wire import Flaw, Walker, WireError, signed
from tests.wire_bytes import block, number, varint


def walk(data: bytes, max_fields: int = 100) -> list[tuple[int, int, int]]:
    return list(Walker(data, max_fields).fields(0, len(data)))


def flaw(data: bytes, max_fields: int = 100) -> Flaw:
    with pytest.raises(WireError) as caught:
        walk(data, max_fields)
    return caught.value.flaw


def test_the_examples_of_the_specification() -> None:
    assert walk(bytes.fromhex("089601")) == [(0x08, 150, 0)]
    assert walk(bytes.fromhex("120774657374696e67")) == [(0x12, 2, 9)]
    packed = bytes.fromhex("3206038e029ea705")
    assert walk(packed) == [(0x32, 2, 8)]
    assert list(Walker(packed, 100).numbers(2, 8)) == [3, 270, 86942]


def test_fixed_width_fields_have_eight_and_four_bytes() -> None:
    assert walk(b"\x09" + b"a" * 8 + b"\x15" + b"b" * 4) == [(0x09, 1, 9), (0x15, 10, 14)]


def test_minus_one_takes_ten_bytes() -> None:
    data = b"\x08" + b"\xff" * 9 + b"\x01"
    ((_, value, _),) = walk(data)
    assert signed(value) == -1


def test_a_field_number_of_two_bytes() -> None:
    assert walk(number(100, 5)) == [(100 << 3, 5, 0)]


def test_a_tag_above_32_bits_is_cut_as_protobuf_does() -> None:
    assert walk(b"\x8a\x80\x80\x80\x10\x01x") == [(0x0A, 6, 7)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\x0a", Flaw.ENDS_EARLY),
        (b"\x0a\x05abcd", Flaw.ENDS_EARLY),
        (b"\x08\x80", Flaw.ENDS_EARLY),
        (b"\x09abc", Flaw.ENDS_EARLY),
        (b"\x0a" + varint(1 << 31), Flaw.LENGTH),
        (b"\x0a" + varint((1 << 63) - 1), Flaw.LENGTH),
        (b"\x08" + b"\xff" * 10 + b"\x01", Flaw.NUMBER),
        (b"\x00\x00", Flaw.TAG),
        (b"\x0f", Flaw.TAG),
        (b"\x0b\x0c", Flaw.GROUP),
    ],
)
def test_flaws(data: bytes, expected: Flaw) -> None:
    assert flaw(data) is expected


def test_a_message_ends_at_its_own_end_not_at_the_buffers() -> None:
    data = block(1, b"\x0a\x05") + b"abcdef"
    with pytest.raises(WireError):
        list(Walker(data, 100).fields(2, 4))


def test_all_messages_and_packed_numbers_together_are_bounded() -> None:
    assert flaw(number(1, 1) * 11, max_fields=10) is Flaw.TOO_MANY
    walker = Walker(b"\x01" * 20, 10)
    with pytest.raises(WireError) as caught:
        list(walker.numbers(0, 20))
    assert caught.value.flaw is Flaw.TOO_MANY
