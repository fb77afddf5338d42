"""Is this file a profile that the engine may see? A look at its bytes before anything else reads them.

XProf 2.24.2 answers an empty page for an empty or cut file, and crashes, hangs or writes outside its
folder on some files under 1 KB. So every file is walked here first: in place, with constant memory and a
bounded number of steps, without a protobuf library. Whatever the bytes are, the result is an `Inspection`
or a `LoaderError` with a sentence for a person.

The file must not be shortened by others meanwhile (it is mapped); files of the scratch never are.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from loader.errors import ErrorCode, LoaderError
from loader.inspect_plane import Plane, PlaneLimits, scan_plane
from loader.wire import MAX_LENGTH, Flaw, Walker, WireError

DEVICE_PREFIX = b"/device:"
"""What the names of all device planes begin with (XLA's xplane_schema.cc)."""

# XSpace
_PLANE, _ERROR, _WARNING, _HOSTNAME = 0x0A, 0x12, 0x1A, 0x22

_REPORTS = 10
_REPORT_BYTES = 200
_HEAD_BYTES = 512
_SHORTEST_TEXT = 8
_AGAIN = "Upload it again, or capture again if the original is damaged too."
_MAGIC = {
    b"\x1f\x8b": "The file is gzip-compressed; unpack it and upload the .xplane.pb itself.",
    b"PK\x03\x04": "The file is a ZIP archive; unpack it and upload the .xplane.pb itself.",
    b"\x28\xb5\x2f\xfd": "The file is zstd-compressed; unpack it and upload the .xplane.pb itself.",
}
_FLAWS = {
    Flaw.ENDS_EARLY: "it ends too early",
    Flaw.LENGTH: "a length is larger than the file",
    Flaw.NUMBER: "a number is malformed",
    Flaw.TAG: "it is not a protobuf",
    Flaw.GROUP: "it is not a protobuf",
}


@dataclass(frozen=True)
class InspectionLimits:
    """What a file may hold to be converted.

    Attributes:
        file_bytes: longest file; protobuf reads at most 2 GiB.
        planes: most planes.
        device_planes: most planes of devices; XProf starts a thread for each.
        fields: most fields that are looked at, which bounds the time (about 3 million a second).
        plane: limits of one plane.
    """

    file_bytes: int = MAX_LENGTH
    planes: int = 4096
    device_planes: int = 256
    fields: int = 20_000_000
    plane: PlaneLimits = field(default_factory=PlaneLimits)


@dataclass(frozen=True)
class Inspection:
    """What a file says about itself.

    Attributes:
        planes: number of planes.
        device_planes: number of planes of devices.
        lines: number of lines in all planes.
        longest_name: bytes of the longest name of a plane or an event.
        modules: names of the HLO modules, sorted, each once.
        hostnames: hosts that the profiler recorded.
        start_ns: start of the capture since the epoch, or None.
        stop_ns: its end, or None.
        warnings: sentences for a person: what is missing or odd though the file can be shown.
    """

    planes: int
    device_planes: int
    lines: int
    longest_name: int
    modules: tuple[str, ...]
    hostnames: tuple[str, ...]
    start_ns: int | None
    stop_ns: int | None
    warnings: tuple[str, ...]


@dataclass
class _Space:
    """The outermost level of a file."""

    planes: list[tuple[int, int]] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    hostnames: list[str] = field(default_factory=list)


DEFAULT_LIMITS = InspectionLimits()


def inspect_profile(
    path: Path, name: str | None = None, limits: InspectionLimits = DEFAULT_LIMITS
) -> Inspection:
    """Looks at one `.xplane.pb` file.

    Args:
        path: the file, of any content.
        name: what the file is called in messages; the path's last part by default.
        limits: what it may hold.

    Raises:
        LoaderError: MALFORMED or TOO_LARGE, with the file's name.
        OSError: when the file can't be read.
    """
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            if size == 0:
                raise _unreadable("it is empty")
            if size > limits.file_bytes:
                raise _too_large(
                    f"it has {size / (1 << 30):.1f} GiB, and XProf reads at most "
                    f"{limits.file_bytes / (1 << 30):.1f} GiB"
                )
            with closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as data:
                return _inspect(data, limits)
    except LoaderError as error:
        raise LoaderError(error.code, error.message, name or path.name) from error.__cause__


def _inspect(data: mmap.mmap, limits: InspectionLimits) -> Inspection:
    """Walks a mapped file; says what it is instead when it is no profile."""
    walker = Walker(data, limits.fields)
    try:
        space = _scan_space(walker, limits)
    except WireError as error:
        raise _foreign(data) or _flawed(error) from error
    if not space.planes:
        raise _foreign(data) or _unreadable("it has no planes", *space.reports)
    try:
        planes = [scan_plane(walker, *bounds, limits.plane) for bounds in space.planes]
    except WireError as error:
        raise _foreign(data) or _flawed(error, inside=True) from error
    return _summary(space, planes, limits)


def _scan_space(walker: Walker, limits: InspectionLimits) -> _Space:
    """Finds the planes of an XSpace, and what the profiler itself says about the capture."""
    space = _Space()
    for tag, first, last in walker.fields(0, len(walker.data)):
        if tag == _PLANE:
            space.planes.append((first, last))
            if len(space.planes) > limits.planes:
                raise _too_large(
                    f"it has too many planes (more than the limit of {limits.planes:,})"
                )
        elif tag in (_ERROR, _WARNING) and len(space.reports) < _REPORTS:
            report = _text(walker, first, last)
            space.reports.append(f"The profiler reported: {report}")
        elif tag == _HOSTNAME and len(space.hostnames) < limits.planes:
            space.hostnames.append(_text(walker, first, last))
    return space


def _summary(space: _Space, planes: Sequence[Plane], limits: InspectionLimits) -> Inspection:
    """Puts the planes together."""
    devices = sum(plane.name.startswith(DEVICE_PREFIX) for plane in planes)
    if devices > limits.device_planes:
        raise _too_large(
            f"it has too many device planes ({devices:,}; limit {limits.device_planes:,})"
        )
    return Inspection(
        planes=len(planes),
        device_planes=devices,
        lines=sum(plane.lines for plane in planes),
        longest_name=max(plane.longest_name for plane in planes),
        modules=tuple(sorted({name for plane in planes for name in plane.modules})),
        hostnames=tuple(space.hostnames),
        start_ns=next((p.start_ns for p in planes if p.start_ns is not None), None),
        stop_ns=next((p.stop_ns for p in planes if p.stop_ns is not None), None),
        warnings=(*space.reports, *_warnings(planes, devices)),
    )


def _warnings(planes: Sequence[Plane], devices: int) -> list[str]:
    """What a person should know though the file can be shown."""
    found = []
    if not any(plane.lines for plane in planes):
        found.append(
            "Nothing was recorded: no plane has a timeline. Capture while steps are running."
        )
    elif not devices:
        found.append(
            "There is no device plane: the capture saw the host only, so device tools are empty."
        )
    if unreadable := sum(plane.unreadable_modules for plane in planes):
        modules = "1 module" if unreadable == 1 else f"{unreadable} modules"
        found.append(f"The HLO of {modules} could not be read; graph and memory tools lack it.")
    names = Counter(plane.name for plane in planes if plane.name)
    for name, count in names.most_common(_REPORTS):
        if count > 1:
            label = name[:_REPORT_BYTES].decode(errors="replace")
            found.append(
                f"The plane {label!r} is there {count} times; some tools show the first only."
            )
    return found


def _text(walker: Walker, first: int, last: int) -> str:
    """The beginning of a string in the file."""
    return walker.data[first : min(last, first + _REPORT_BYTES)].decode(errors="replace")


def _foreign(data: mmap.mmap) -> LoaderError | None:
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
        return _unreadable(
            "it is not a protobuf but an XML or HTML page, probably the error page of a failed download"
        )
    return _unreadable("it is not a protobuf but text")


def _flawed(error: WireError, *, inside: bool = False) -> LoaderError:
    """The error for bytes that can't be walked, at the outermost level or inside a plane."""
    if error.flaw is Flaw.TOO_MANY:
        return _too_large("it has too many fields")
    return _unreadable("a plane in it is damaged" if inside else _FLAWS[error.flaw])


def _unreadable(reason: str, *reports: str) -> LoaderError:
    sentence = f"This file is not a readable XProf profile ({reason}). {_AGAIN}"
    return LoaderError(ErrorCode.MALFORMED, " ".join((sentence, *reports)))


def _too_large(reason: str) -> LoaderError:
    return LoaderError(
        ErrorCode.TOO_LARGE,
        f"This profile exceeds a limit: {reason}. Capture fewer steps, or fewer devices in one file.",
    )
