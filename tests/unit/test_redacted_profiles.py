"""The redacted copy of a profile: no text of the original, all of its numbers, and fields that are known."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from loader.errors import ErrorCode, LoaderError
from loader.inspection.limits import DEFAULT_LIMITS
from loader.intake.inspect import inspect_profile
from loader.redaction.profile import redact_profile
from loader.redaction.pseudonyms import Pseudonyms
from loader.redaction.schema import parse
from server.demo import schema
from server.demo.messages import Space
from tests.wire_bytes import (
    block,
    event_metadata,
    good_profile,
    hlo_proto_stat,
    line,
    map_entry,
    metadata_plane,
    number,
    plane,
    stat_metadata,
    varint,
)

PSEUDONYMS = Pseudonyms("a secret of this service")
MARKER = "Hush"
MOST_DEPTH = 5
_EVENTS = 4
"""Field of a line that its head leaves to others."""


def redacted(folder: Path, data: bytes, host: str = "host-0") -> bytes:
    source, target = folder / "original", folder / "copy"
    source.write_bytes(data)
    target.unlink(missing_ok=True)
    redact_profile(source, target, host, PSEUDONYMS, DEFAULT_LIMITS)
    return target.read_bytes()


class Marked:
    """Messages of one kind with a marker in every text field, and in fields that no schema has."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def text(self) -> str:
        around = self._dice.choice(("", "/x", "%a = f32[] fusion(", "fusion.", "jit(", "12:", "é"))
        return f"{around}{MARKER}{self._dice.randint(0, 99)}"

    def message(self, kind: Descriptor, depth: int = 0) -> bytes:
        parts = [self._field(entry, depth) for entry in kind.fields for _ in range(2)]
        unknown = {*range(1, 120)} - {_EVENTS, *kind.fields_by_number}
        parts += [block(field, self.text()) for field in self._dice.sample(sorted(unknown), 20)]
        self._dice.shuffle(parts)
        return b"".join(parts)

    def _field(self, entry: FieldDescriptor, depth: int) -> bytes:
        if entry.type == FieldDescriptor.TYPE_MESSAGE:
            inner = self.message(entry.message_type, depth + 1) if depth < MOST_DEPTH else b""
            return block(entry.number, inner)
        if entry.type == FieldDescriptor.TYPE_BYTES:
            return block(entry.number, self.text())
        if entry.type == FieldDescriptor.TYPE_DOUBLE:
            return varint(entry.number << 3 | 1) + self._dice.randbytes(8)
        if entry.type == FieldDescriptor.TYPE_FLOAT:
            return varint(entry.number << 3 | 5) + self._dice.randbytes(4)
        return number(entry.number, self._dice.randint(0, 9))


def kind_of(name: str) -> Descriptor:
    return parse(name, b"").DESCRIPTOR


def marked_profile(seed: int) -> bytes:
    """A profile with the marker wherever a text can stand, and HLO likewise."""
    marked = Marked(seed)
    unknown = b"".join(block(field, marked.text()) for field in (7, 9, 15, 40))
    events = b"".join(
        block(4, marked.message(kind_of("Event")))
        + block(4, number(1, 1) + block(4, number(1, 4) + block(6, marked.text())))
        for _ in range(5)
    )
    lines = block(3, marked.message(kind_of("LineHead")) + events + unknown)
    hlo = hlo_proto_stat(marked.message(kind_of("Hlo")))
    details = block(5, number(1, 2) + block(6, marked.message(kind_of("CoreDetails"))))
    accesses = block(5, number(1, 3) + block(6, marked.message(kind_of("MemoryAccessBreakdown"))))
    names = stat_metadata(1, "Hlo Proto") + stat_metadata(2, "core_details")
    names += stat_metadata(3, "memory_access_breakdown") + stat_metadata(4, marked.text())
    names += map_entry(5, 5, marked.message(kind_of("StatMetadata")))
    metadata = event_metadata(1, marked.text(), stats=hlo + details + accesses)
    metadata += map_entry(4, 2, marked.message(kind_of("EventMetadata")))
    stats = block(6, marked.message(kind_of("Stat")))
    content = lines + metadata + names + stats + unknown
    reports = block(2, marked.text()) + block(3, marked.text()) + block(4, marked.text())
    return plane(marked.text(), content) + reports + unknown


@pytest.mark.parametrize("seed", range(12))
def test_no_text_of_the_original_is_in_the_copy(tmp_path: Path, seed: int) -> None:
    data = marked_profile(seed)
    assert data.count(MARKER.encode()) > 200
    copy = redacted(tmp_path, data)
    assert MARKER.lower().encode() not in copy.lower()
    space = schema.parse_space(copy)
    entries = space.planes[0].event_metadata.values()
    assert max(len(stat.bytes_value) for entry in entries for stat in entry.stats) > 5000  # the HLO
    assert sum(len(found.events) for found in space.planes[0].lines) == 10


def figures(space: Space) -> list[object]:
    """All numbers of a profile, and how its parts belong together."""
    return [
        [
            [
                (
                    line.timestamp_ns,
                    [(e.metadata_id, e.offset_ps, e.duration_ps) for e in line.events],
                )
                for line in plane.lines
            ],
            sorted((key, value.id) for key, value in plane.event_metadata.items()),
            [
                (stat.metadata_id, stat.double_value, stat.uint64_value, stat.ref_value)
                for line in plane.lines
                for event in line.events
                for stat in event.stats
            ],
        ]
        for plane in space.planes
    ]


def test_numbers_and_structure_stay(small_session: Path, tmp_path: Path) -> None:
    path = sorted(small_session.glob("*.xplane.pb"))[0]
    host = path.name.removesuffix(".xplane.pb")
    copy = redacted(tmp_path, path.read_bytes(), host)
    before, after = schema.parse_space(path.read_bytes()), schema.parse_space(copy)
    assert figures(after) == figures(before)
    assert [found.name for found in after.planes] == [found.name for found in before.planes]
    assert list(after.hostnames) == [host]
    seen, then = inspect_profile(path), inspect_profile(tmp_path / "copy")
    assert (then.events, then.lines, then.planes) == (seen.events, seen.lines, seen.planes)
    assert then.contents == seen.contents
    assert then.modules == tuple(sorted(PSEUDONYMS.text(name) for name in seen.modules))


def test_names_that_belong_together_still_do(
    other_sessions: dict[str, Path], tmp_path: Path
) -> None:
    path = other_sessions["gpu"] / "gpu-host.xplane.pb"
    space = schema.parse_space(redacted(tmp_path, path.read_bytes()))
    program = next(iter(space.planes[0].event_metadata.values()))
    hlo = next(stat.bytes_value for stat in program.stats if stat.bytes_value)
    module = schema.parse_hlo(hlo).hlo_module
    instructions = {
        found.name for computation in module.computations for found in computation.instructions
    }
    named = space.planes[1].stat_metadata
    ops = {
        named[stat.ref_value].name
        for event in space.planes[1].lines[0].events
        for stat in event.stats
        if named[stat.metadata_id].name == "hlo_op"
    }
    assert len(ops) > 100
    assert ops <= instructions
    assert program.name.startswith(f"{module.name}(")


def test_a_large_line_is_written_piece_by_piece(tmp_path: Path) -> None:
    quiet = block(4, number(1, 1) + number(2, 10) + number(3, 5)) * 200_000
    loud = block(4, number(1, 1) + block(4, number(1, 2) + block(5, f"{MARKER} {'x' * 20_000}")))
    data = plane("/host:CPU", line("python", quiet + loud + quiet) + event_metadata(1, MARKER))
    assert len(data) > 3 << 20
    copy = redacted(tmp_path, data)
    assert MARKER.encode() not in copy
    assert inspect_profile(tmp_path / "copy").events == 400_001


def test_hlo_that_cannot_be_read_stays_unreadable(tmp_path: Path) -> None:
    garbage = hlo_proto_stat(b"\x0a\xff" + MARKER.encode())
    data = metadata_plane(event_metadata(1, "jit_step(7)", stats=garbage)) + plane("x", line())
    assert MARKER.encode() not in redacted(tmp_path, data)
    (warning,) = [text for text in inspect_profile(tmp_path / "copy").warnings if "HLO" in text]
    assert "1 module could not be read" in warning


def test_a_damaged_profile_is_refused_in_words_that_tell_nothing(tmp_path: Path) -> None:
    damaged = block(3, block(4, b"\x22\xff" + MARKER.encode()))
    with pytest.raises(LoaderError) as caught:
        redacted(tmp_path, plane(MARKER, damaged))
    assert caught.value.code is ErrorCode.MALFORMED
    assert MARKER not in caught.value.message


def test_what_the_profiler_reported_is_left_out(tmp_path: Path) -> None:
    data = good_profile() + block(2, "error in my_secret.py") + block(3, "warning of mine")
    copy = redacted(tmp_path, data)
    assert b"secret" not in copy
    assert inspect_profile(tmp_path / "copy").warnings == ()


def test_small_messages_by_the_million_are_refused_before_they_take_memory(tmp_path: Path) -> None:
    many = block(1, block(3, block(2, b"\x8a\x01\x00" * 3_000_000)))  # slices of one instruction
    data = metadata_plane(event_metadata(1, "jit_step(7)", stats=hlo_proto_stat(many)))
    with pytest.raises(LoaderError) as caught:
        redacted(tmp_path, data)
    assert caught.value.code is ErrorCode.TOO_LARGE
    stats = plane("/host:CPU", line("python", block(4, b"\x22\x00" * 5_000_000)))
    with pytest.raises(LoaderError) as caught:
        redacted(tmp_path, stats)
    assert caught.value.code is ErrorCode.TOO_LARGE


def test_many_instructions_are_no_matter(tmp_path: Path) -> None:
    module = block(1, block(3, block(2, b"") * 50_000 + block(2, block(1, MARKER))))
    data = metadata_plane(event_metadata(1, "jit_step(7)", stats=hlo_proto_stat(module)))
    copy = redacted(tmp_path, data)
    assert MARKER.encode() not in copy
    assert len(copy) > 100_000
