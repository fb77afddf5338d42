"""Is this file a profile that the engine may see? A look at its bytes before anything else reads them.

XProf 2.24.2 answers an empty page for an empty or cut file, and crashes, hangs or writes outside its folder
on some files under 1 KB. So every file is walked here first: in place, with constant memory and a bounded
number of steps, without a protobuf library. Whatever the bytes are, the result is an `Inspection` or a
`LoaderError` with a sentence for a person. What can be mended is not mended here: the inspection says how.

The file must not be shortened by others meanwhile (it is mapped); files of the scratch never are.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from loader.errors import ErrorCode, LoaderError
from loader.inspection.contents import GPU_PREFIX, TPU_PREFIX, Contents
from loader.inspection.familiar import Familiar
from loader.inspection.limits import DEFAULT_LIMITS, InspectionLimits
from loader.inspection.plane import Plane, Planes
from loader.inspection.refusals import (
    REPORTED,
    another_protobuf,
    cut_off,
    too_large,
    too_long,
    unreadable,
)
from loader.inspection.result import Inspection
from loader.inspection.warnings import MOST_REPORTS, capture_times, doubts_about, warnings_about
from loader.inspection.wire import Flaw, Walker, WireError

DEVICE_PREFIX = b"/device:"
"""What the names of all device planes begin with (XLA's xplane_schema.cc)."""

# XSpace
_PLANE, _ERROR, _WARNING, _HOSTNAME = 0x0A, 0x12, 0x1A, 0x22
_FIRST_UNKNOWN = 0x28

_REPORT_BYTES = 200
_HEAD_BYTES = 512
_SHORTEST_TEXT = 8
_MAGIC = {
    b"\x1f\x8b": "The file is compressed twice with gzip; unpack it once and upload it again.",
    b"PK\x03\x04": "The file is a ZIP archive; unpack it and upload the .xplane.pb itself.",
    b"\x28\xb5\x2f\xfd": "The file is zstd-compressed; unpack it and upload the .xplane.pb itself.",
    b"\xfd7zXZ\0": "The file is xz-compressed; unpack it and upload the .xplane.pb itself.",
    b"BZh": "The file is bzip2-compressed; unpack it and upload the .xplane.pb itself.",
}
_FLAWS = {
    Flaw.ENDS_EARLY: "it ends too early",
    Flaw.LENGTH: "a length is larger than the file",
    Flaw.NUMBER: "a number is malformed",
    Flaw.TAG: "it is not a protobuf",
    Flaw.GROUP: "it is not a protobuf",
}


@dataclass
class _Space:
    """The outermost level of a file; planes beyond the limit are only counted."""

    bounds: list[tuple[int, int]] = field(default_factory=list)
    planes: int = 0
    reports: list[str] = field(default_factory=list)
    hostnames: list[str] = field(default_factory=list)


def inspect_profile(
    path: Path,
    name: str | None = None,
    limits: InspectionLimits = DEFAULT_LIMITS,
    familiar: Familiar | None = None,
) -> Inspection:
    """Looks at one `.xplane.pb` file.

    Args:
        path: the file, of any content.
        name: what the file is called in messages; the path's last part by default.
        limits: what it may hold.
        familiar: entries of metadata that other profiles had; this one's are added.

    Raises:
        CutOffError: it is empty, or ends before its content does.
        LoaderError: MALFORMED or TOO_LARGE, with the file's name.
        OSError: when the file can't be read.
    """
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            if size == 0:
                raise cut_off("it is empty")
            if size > limits.file_bytes:
                raise too_long(size, limits.file_bytes)
            with closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data:
                return _inspect(data, limits, familiar)
    except LoaderError as error:
        raise type(error)(error.code, error.message, name or path.name) from error.__cause__


def _inspect(data: mmap.mmap, limits: InspectionLimits, familiar: Familiar | None) -> Inspection:
    """Walks a mapped file; says what it is instead when it is no profile."""
    walker = Walker(data, limits.fields)
    planes = Planes(walker, limits, familiar)
    try:
        space = _scan_space(walker, planes, limits)
    except WireError as error:
        raise _foreign(data) or _flawed(error) from error
    if not space.planes:
        raise _foreign(data) or unreadable("it has no planes", *space.reports)
    if space.planes > limits.planes:
        raise too_large(
            f"too many planes ({space.planes:,}; limit {limits.planes:,})", "XPROF_HUB_MOST_PLANES"
        )
    try:
        found = [_scan_plane(planes, data, *bounds) for bounds in space.bounds]
    except WireError as error:
        raise _foreign(data) or _flawed(error, inside=True) from error
    if _holds_nothing_of_a_profile(space, found):
        raise another_protobuf()
    return _summary(data, space, planes, found, limits)


def _scan_space(walker: Walker, planes: Planes, limits: InspectionLimits) -> _Space:
    """Finds the planes of an XSpace, and what the profiler itself says about the capture."""
    space = _Space()
    for tag, first, last in walker.fields(0, len(walker.data)):
        if tag == _PLANE:
            space.planes += 1
            if space.planes <= limits.planes:
                space.bounds.append((first, last))
        elif tag in (_ERROR, _WARNING):
            planes.texts.check(first, last)
            if len(space.reports) < MOST_REPORTS:
                report = _text(walker, first, last)
                space.reports.append(f"{REPORTED}{report}")
        elif tag == _HOSTNAME:
            planes.texts.check(first, last, is_name=True)
            if len(space.hostnames) < limits.planes:
                space.hostnames.append(_text(walker, first, last))
        elif tag < _FIRST_UNKNOWN:  # a known number with a foreign type
            raise _foreign(walker.data) or another_protobuf()
    return space


def _scan_plane(planes: Planes, data: mmap.mmap, first: int, last: int) -> Plane:
    """Looks at one plane, and lets the system take back the memory of what was read."""
    plane = planes.scan(first, last)
    data.madvise(mmap.MADV_DONTNEED)
    return plane


def _holds_nothing_of_a_profile(space: _Space, planes: Sequence[Plane]) -> bool:
    """Whether it only looks like a profile, as some other protobufs do: bare planes with unlikely names."""
    if any(plane.has_content for plane in planes):
        return False
    names = [plane.name for plane in planes] + [name.encode() for name in space.hostnames]
    return any(0 < byte < 0x20 for name in names for byte in name)


def _summary(
    data: mmap.mmap,
    space: _Space,
    planes: Planes,
    found: Sequence[Plane],
    limits: InspectionLimits,
) -> Inspection:
    """Puts the planes together."""
    devices = sum(plane.name.startswith(DEVICE_PREFIX) for plane in found)
    if devices > limits.device_planes:
        raise too_large(
            f"too many device planes ({devices:,}; limit {limits.device_planes:,})",
            "XPROF_HUB_MOST_DEVICE_PLANES",
        )
    start_ns, stop_ns, odd = capture_times(found)
    return Inspection(
        size=len(data),
        planes=len(found),
        device_planes=devices,
        lines=planes.lines.lines,
        events=planes.lines.events,
        longest_name=planes.texts.longest_name,
        modules=tuple(sorted(set(planes.modules.names))),
        hostnames=tuple(space.hostnames),
        start_ns=start_ns,
        stop_ns=stop_ns,
        warnings=(*space.reports, *warnings_about(planes, found, devices), *odd),
        repairs=tuple(planes.texts.repairs),
        is_plain=planes.lines.are_close
        and not planes.misnamed
        and not (space.reports or doubts_about(planes, found) or odd),
        contents=_contents(planes, found),
    )


def _contents(planes: Planes, found: Sequence[Plane]) -> Contents:
    """What the planes hold."""
    return Contents(
        tpu_planes=sum(plane.name.startswith(TPU_PREFIX) for plane in found),
        gpu_planes=sum(plane.name.startswith(GPU_PREFIX) for plane in found),
        device_events=sum(
            plane.events for plane in found if plane.name.startswith((TPU_PREFIX, GPU_PREFIX))
        ),
        hlo_modules=planes.modules.found,
        has_memory_events=planes.marks.memory_events,
        has_host_ops=planes.marks.host_ops,
        has_counters=planes.marks.counters,
        has_megascale=planes.marks.megascale,
    )


def _text(walker: Walker, first: int, last: int) -> str:
    """The beginning of a string in the file, as it can be shown in a sentence."""
    text = walker.data[first : min(last, first + _REPORT_BYTES)].decode(errors="replace")
    return "".join(char if char.isprintable() else " " for char in text)


def _foreign(data: bytes | mmap.mmap) -> LoaderError | None:
    """The error for a well-known other kind of file, or None. Only asked about what is no profile."""
    head = data[:_HEAD_BYTES]
    for magic, sentence in _MAGIC.items():
        if head.startswith(magic):
            return LoaderError(ErrorCode.MALFORMED, sentence)
    text = head.decode(errors="ignore")  # the head may end inside a character
    if len(head) < _SHORTEST_TEXT or len(text.encode()) < len(head) - 3:
        return None
    if not all(character.isprintable() or character in "\r\n\t" for character in text):
        return None
    if text.lstrip("\ufeff \r\n\t").startswith("<"):
        return unreadable(
            "it is not a protobuf but an XML or HTML page, probably the error page of a failed download"
        )
    return unreadable("it is not a protobuf but text")


def _flawed(error: WireError, *, inside: bool = False) -> LoaderError:
    """The error for bytes that can't be walked, at the outermost level or inside a plane."""
    if error.flaw is Flaw.TOO_MANY:
        return too_large("it has too many fields")
    if inside:
        return unreadable("a plane in it is damaged")
    if error.flaw is Flaw.ENDS_EARLY:
        return cut_off(_FLAWS[error.flaw])
    return unreadable(_FLAWS[error.flaw])
