"""What is left of a profile without its timelines: everything else, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.message import Message

from loader.intake.door import take_in
from loader.intake.timelines import without_timelines, write_without_timelines
from loader.storage.base import StoredFile
from server.demo import schema
from server.demo.session import write_session
from tests.wire_bytes import block, event_metadata, line, number, plane, stat_metadata

EVENT = block(4, number(1, 1) + number(2, 10) + number(3, 5))
LINE = line("ops", EVENT * 50)
LONG_LINE_TAG = b"\x9a\x00" + LINE[1:]
"""The same field, its number written in two bytes as no library does."""


def left_of(tmp_path: Path, data: bytes) -> bytes:
    source, target = tmp_path / "whole", tmp_path / "without"
    source.write_bytes(data)
    write_without_timelines(source, target)
    return target.read_bytes()


def taken_in(tmp_path: Path, data: bytes) -> Path:
    source, target = tmp_path / "shared", tmp_path / "h.xplane.pb"
    source.write_bytes(data)
    file = StoredFile("/s/h.xplane.pb", "h.xplane.pb", len(data), "1")
    found = without_timelines(take_in)(source, file, target)
    assert found.size == target.stat().st_size
    assert source.read_bytes() == data
    return target


def test_all_but_the_lines_of_a_session_stays(tmp_path: Path) -> None:
    whole = write_session(tmp_path / "session", hosts=1, events=1000)[0].read_bytes()
    expected = schema.new_space()
    expected.ParseFromString(whole)
    for each in expected.planes:
        assert isinstance(each, Message)
        each.ClearField("lines")
    found = schema.new_space()
    found.ParseFromString(left_of(tmp_path, whole))
    assert found == expected


@pytest.mark.parametrize("lines", [LINE, LINE * 3, LONG_LINE_TAG], ids=["one", "three", "long tag"])
def test_fields_of_every_wire_type_stay_between_lines(tmp_path: Path, lines: bytes) -> None:
    kept = (
        number(1, 1 << 40),
        block(2, "/host:CPU"),
        event_metadata(1, "step"),
        b"\x99\x06" + bytes(8),  # field 99, eight bytes
        b"\x9d\x06" + bytes(4),  # and four
        number(1, 3) + number(98, 4),
    )
    inside = lines + lines.join(kept) + lines
    others = block(4, "host") + number(90, 7) + b"\xd9\x05" + bytes(8)
    found = left_of(tmp_path, others + block(1, inside) + block(1, block(2, "p")) + others)
    planes = schema.new_space()
    planes.ParseFromString(found)
    again = schema.new_space()
    again.ParseFromString(others + block(1, b"".join(kept)) + block(1, block(2, "p")) + others)
    assert planes.SerializeToString(deterministic=True) == again.SerializeToString(
        deterministic=True
    )
    assert found.startswith(others)
    assert found.endswith(others)


def test_a_large_part_that_stays_is_copied_whole(tmp_path: Path) -> None:
    large = block(6, bytes(range(256)) * 10_000)
    found = left_of(tmp_path, block(1, LINE + large + LINE + large) + block(7, large))
    assert found.count(large) == 3
    assert len(found) < 3 * len(large) + 20


def test_the_engine_gets_no_events_and_the_shared_file_stays(tmp_path: Path) -> None:
    data = plane("/host:CPU", LINE + event_metadata(1, "step"))
    target = taken_in(tmp_path, data)
    assert EVENT not in target.read_bytes()
    assert b"step" in target.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o444
    assert [path.name for path in tmp_path.iterdir() if path != target] == ["shared"]


def test_a_profile_that_names_values_of_counters_stays_whole(tmp_path: Path) -> None:
    data = plane("/device:TPU:0", LINE + stat_metadata(1, "counter_value"))
    assert taken_in(tmp_path, data).read_bytes() == data
