"""What xprof-rs is known to get wrong in a profile, so that XProf is asked for it.

XProf reads a host's memory events in the order of the file, and xprof-rs 0.1.3 sorts each thread's events
first, so its memory profile is XProf's only where both orders are the same. Of events at the same moment
XProf shows any first. The programs of TPUs are sorted likewise, and steps are found differently beside TPUs.
All this was found by comparing random profiles (docs/adr/015-fast-engine.md).

Runs in the sandboxed child that asks xprof-rs. Events are found as every protobuf library writes them: the
kind, then the offset, both in their shortest form. Who writes a profile otherwise may get an answer in
another order.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from loader.engine.rs import UnsureError
from loader.inspection.wire import Walker, WireError, signed

# XSpace, XPlane, XLine, XEvent, entry of a map, XEventMetadata (XLA's tsl/profiler/protobuf/xplane.proto)
_PLANE, _PLANE_NAME, _LINE, _EVENT_METADATA = 0x0A, 0x12, 0x1A, 0x22
_EVENT, _KIND, _OFFSET = 0x22, 0x08, 0x10
_KEY, _VALUE, _NAME, _DISPLAY_NAME = 0x08, 0x12, 0x12, 0x22

_HOST_PLANE = b"/host:CPU"
_TPU_PREFIX = b"/device:TPU:"
_MEMORY_EVENTS = frozenset({b"MemoryAllocation", b"MemoryDeallocation"})
_MOST_FIELDS = 20_000_000
Bounds = tuple[int, int]


def doubt_memory_profile(path: Path) -> None:
    """Looks for what xprof-rs would get wrong in the memory profile of this file.

    Raises:
        UnsureError: there is something.
        OSError: the file can't be read.
    """
    with (
        path.open("rb") as stream,
        closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data,
    ):
        try:
            _doubt_planes(Walker(data, _MOST_FIELDS), data)
        except WireError as flaw:
            raise UnsureError("the profile can't be walked") from flaw


def _doubt_planes(walker: Walker, data: mmap.mmap) -> None:
    for bounds in walker.inside(0, len(data), (_PLANE,)):
        name = _last(walker, *bounds, _PLANE_NAME)
        if name == _HOST_PLANE:
            _doubt_host(walker, data, bounds)
        elif name.startswith(_TPU_PREFIX):
            raise UnsureError("a TPU's programs and steps are in the profile")


def _doubt_host(walker: Walker, data: mmap.mmap, plane: Bounds) -> None:
    """The memory events of each thread must be in order, and no two of the host at the same moment."""
    kinds = list(_memory_kinds(walker, plane))
    if not kinds:
        return
    times: list[int] = []
    for first, last in walker.inside(*plane, (_LINE,)):
        of_line = _times(walker, data, (first, last), kinds)
        if any(later < earlier for earlier, later in pairwise(of_line)):
            raise UnsureError("memory events are not in the order of time")
        times += of_line
    if len(set(times)) != len(times):
        raise UnsureError("memory events happen at the same moment")


def _memory_kinds(walker: Walker, plane: Bounds) -> Iterator[int]:
    """The ids of memory events."""
    for first, last in walker.inside(*plane, (_EVENT_METADATA,)):
        key = next((low for tag, low, _ in walker.fields(first, last) if tag == _KEY), 0)
        for value in walker.inside(first, last, (_VALUE,)):
            name = _last(walker, *value, _NAME)
            if name in _MEMORY_EVENTS:
                if _last(walker, *value, _DISPLAY_NAME):
                    raise UnsureError("memory events have a name to be shown")
                yield key


def _times(walker: Walker, data: mmap.mmap, line: Bounds, kinds: list[int]) -> list[int]:
    """When the memory events of a line happen, in the order of the file: picoseconds since its start."""
    found: list[int] = []
    for kind in kinds:
        start = bytes((_KIND, *_varint(kind), _OFFSET))
        position = data.find(start, *line)
        while position >= 0:
            if (
                _EVENT in data[position - 4 : position - 1]
            ):  # in front of a length of up to three bytes
                found.append(position + len(start) - 1)
            position = data.find(start, position + len(start), line[1])
    found.sort()
    return [signed(next(walker.fields(position, line[1]))[1]) for position in found]


def _last(walker: Walker, start: int, end: int, tag: int) -> bytes:
    """The text of a field that counts as its last one, empty without any."""
    found = b""
    for low, high in walker.inside(start, end, (tag,)):
        found = walker.data[low:high]
    return found


def _varint(value: int) -> bytes:
    """A number in its shortest form."""
    digits = [value & 0x7F]
    while value := value >> 7:
        digits[-1] |= 0x80
        digits.append(value & 0x7F)
    return bytes(digits)
