"""Profiles without their timelines, for what XProf reads nothing else of: the lists of tools and of modules.

Nearly all bytes of a profile are events, and parsing them is nearly all that XProf does for these lists: 0.8
seconds for a profile of 70 MB, and that is the first click. XProf 2.24.2 makes the list of tools from the
names of planes and of metadata in the first host's profile, and takes the HLO modules out of all hosts'
metadata. Only for one thing it looks at events, values of hardware counters; a profile whose metadata names
these stays whole. tests/integration/test_without_timelines.py compares the answers.

The inspection has looked at all of the profile before. Damage inside an event, which it does not look for,
is found by the first tool that reads events.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from loader.disk import disk_errors
from loader.inspection.events import forget
from loader.inspection.result import Inspection
from loader.inspection.wire import Walker
from loader.inspection.wire_writing import PADDED_BYTES, number, padded, varint
from loader.intake.profiles import Intake
from loader.storage.base import StoredFile

# XSpace, XPlane (XLA's tsl/profiler/protobuf/xplane.proto)
_PLANE, _LINE = 0x0A, 0x1A

_UNFINISHED = ".without-timelines"
_PIECE = 1 << 20


def without_timelines(intake: Intake) -> Intake:
    """An intake that leaves timelines out of what it places, if the lists can do without.

    The size that it tells is that of what is left, and the number of events 0: the engine's memory follows
    these.
    """

    def take_in(path: Path, file: StoredFile, target: Path) -> Inspection:
        found = intake(path, file, target)
        if found.contents.has_counters or not found.lines:
            return found
        unfinished = target.with_name(_UNFINISHED)
        with disk_errors(file.name):
            write_without_timelines(target, unfinished)
            unfinished.chmod(0o444)
            unfinished.replace(target)
            return replace(found, size=target.stat().st_size, events=0)

    return take_in


def write_without_timelines(source: Path, target: Path) -> None:
    """Copies a profile, but for the lines of its planes.

    Args:
        source: a profile that the inspection has let through, not empty.
        target: where nothing is yet.

    Raises:
        WireError: it is no profile.
        OSError: a file can't be read or written.
    """
    with (
        source.open("rb") as stream,
        target.open("xb", buffering=_PIECE) as out,
        closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data,
    ):
        walker = Walker(data, len(data))
        for tag, first, last in walker.fields(0, len(data)):
            if tag == _PLANE:
                _write_plane(walker, out, first, last)
            elif tag & 7 == 0:
                out.write(number(tag, first))
            else:
                out.write(varint(tag) + (varint(last - first) if tag & 7 == 2 else b""))
                _copy(data, out, first, last)


def _write_plane(walker: Walker, out: BinaryIO, start: int, end: int) -> None:
    """A plane's message; how long it becomes is filled in afterwards."""
    out.write(bytes((_PLANE,)) + bytes(PADDED_BYTES))
    begin = out.tell()
    for kept in _between_lines(walker, start, end):
        if isinstance(kept, bytes):
            out.write(kept)
        else:
            _copy(walker.data, out, *kept)
    written = out.tell()
    out.seek(begin - PADDED_BYTES)
    out.write(padded(written - begin))
    out.seek(written)


def _between_lines(walker: Walker, start: int, end: int) -> Iterator[tuple[int, int] | bytes]:
    """What a plane holds besides lines, in its order: bounds of fields, or numbers written anew."""
    begin = known = start
    numbers = bytearray()  # the walker doesn't tell where a number ends
    for tag, first, last in walker.fields(start, end):
        if tag == _LINE:
            yield begin, known
            yield bytes(numbers)
            begin = last
        if tag & 7 == 0:
            numbers += number(tag, first)
        else:
            known = last
            numbers.clear()
    yield begin, end


def _copy(data: bytes | mmap.mmap, out: BinaryIO, start: int, end: int) -> None:
    """Writes a part of the profile, some of it at a time."""
    for position in range(start, end, _PIECE):
        following = min(position + _PIECE, end)
        out.write(data[position:following])
        forget(data, position, following)
