"""What must be known of one plane of a profile before the engine sees it.

Field numbers are those of XLA's tsl/profiler/protobuf/xplane.proto and xla/service/hlo.proto. Lines and
their events are skipped: they are nearly all of a profile's bytes. Used by `loader.inspect` only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from loader.errors import ErrorCode, LoaderError
from loader.wire import Flaw, Walker, WireError, signed

METADATA_PLANE = b"/host:metadata"
"""The plane that carries HLO modules."""
TASK_PLANE = b"Task Environment"
"""The plane that carries the capture's start and stop."""

_HLO_STAT = b"Hlo Proto"
_START_STAT = b"profile_start_time"
_STOP_STAT = b"profile_stop_time"
_STATS = frozenset({_HLO_STAT, _START_STAT, _STOP_STAT})
_LONGEST_STAT = 64
_STAT_IDS = 64  # a true plane names each once; more only cost memory

# XPlane
_NAME, _LINE, _EVENT_METADATA, _STAT_METADATA, _PLANE_STAT = 0x12, 0x1A, 0x22, 0x2A, 0x32
# Entry of a map, XEventMetadata, XStat, HloProto, HloModuleProto
_KEY, _VALUE = 0x08, 0x12
_EVENT_NAME, _DISPLAY_NAME, _EVENT_STAT, _CHILD, _CHILDREN = 0x12, 0x22, 0x2A, 0x30, 0x32
_STAT_ID, _STAT_UINT64, _STAT_INT64, _STAT_BYTES = 0x08, 0x18, 0x20, 0x32
_HLO_MODULE, _MODULE_NAME = 0x0A, 0x0A


@dataclass(frozen=True)
class PlaneLimits:
    """What a plane may hold; the engine crashes, hangs or writes elsewhere beyond (measured).

    Attributes:
        name_bytes: longest name of a plane or event; XProf's search index takes quadratic time in it.
        module_name_bytes: longest name of an HLO module, which becomes a file name.
        modules: most HLO modules.
        children: most child references of op metadata in one plane.
        child_depth: deepest nesting of op metadata; XProf recurses.
        expanded_children: most ops when every child reference is followed; XProf follows all.
    """

    name_bytes: int = 16 << 10
    module_name_bytes: int = 200
    modules: int = 50_000
    children: int = 500_000
    child_depth: int = 1000
    expanded_children: int = 1_000_000


@dataclass
class Plane:
    """One plane, as far as it was looked at.

    Attributes:
        name: as in the file, empty when it has none.
        lines: number of lines (threads, cores' streams).
        longest_name: bytes of the longest name of the plane or of its events.
        modules: names of its HLO modules, only in the metadata plane.
        unreadable_modules: HLO modules that do not parse.
        start_ns: start of the capture since the epoch, only in the task plane.
        stop_ns: its end.
    """

    name: bytes = b""
    lines: int = 0
    longest_name: int = 0
    modules: list[str] = field(default_factory=list)
    unreadable_modules: int = 0
    start_ns: int | None = None
    stop_ns: int | None = None


def scan_plane(walker: Walker, start: int, end: int, limits: PlaneLimits) -> Plane:
    """Looks at the XPlane message in `walker.data[start:end]`.

    Raises:
        LoaderError: MALFORMED or TOO_LARGE, without a file name.
        WireError: it is no message.
    """
    plane = Plane()
    children = _Children(limits.children)
    for tag, first, last in walker.fields(start, end):
        if tag == _EVENT_METADATA:
            _event_metadata(walker, first, last, plane, children)
        elif tag == _LINE:
            plane.lines += 1
        elif tag == _NAME:
            plane.longest_name = max(plane.longest_name, last - first)
            plane.name = walker.data[first : min(last, first + limits.name_bytes)]
        if plane.longest_name > limits.name_bytes:
            _too_large(f"a name in it is longer than {limits.name_bytes >> 10} KB")
    _check_children(children.of, limits)
    if plane.name == METADATA_PLANE:
        _scan_modules(walker, start, end, plane, limits)
    elif plane.name == TASK_PLANE:
        _scan_times(walker, start, end, plane)
    return plane


class _Children:
    """The child references of one plane's op metadata.

    Args:
        most: how many may be noted, which bounds memory.
    """

    def __init__(self, most: int) -> None:
        self.of: dict[int, list[int]] = {}
        self._most = self._left = most

    def note(self, own: list[int], child: int) -> None:
        """Adds a reference to an op's own list."""
        self._left -= 1
        if self._left < 0:
            _too_large(f"its op metadata has more than {self._most:,} child references")
        own.append(signed(child))


def _event_metadata(
    walker: Walker, start: int, end: int, plane: Plane, children: _Children
) -> None:
    """Notes names and children of one entry of the event metadata map."""
    key = 0
    own: list[int] = []
    for tag, first, last in walker.fields(start, end):
        if tag == _KEY:
            key = signed(first)
        elif tag == _VALUE:
            for inner, low, high in walker.fields(first, last):
                if inner in (_EVENT_NAME, _DISPLAY_NAME):
                    plane.longest_name = max(plane.longest_name, high - low)
                elif inner == _CHILD:
                    children.note(own, low)
                elif inner == _CHILDREN:
                    for number in walker.numbers(low, high):
                        children.note(own, number)
    children.of.pop(key, None)  # of two entries with one key, the later one counts
    if own:
        children.of[key] = own


def _check_children(children: dict[int, list[int]], limits: PlaneLimits) -> None:
    """Refuses op metadata that contains itself, or that grows beyond all bounds when followed.

    Raises:
        LoaderError: MALFORMED for a cycle, TOO_LARGE for the rest.
    """
    expanded: dict[int, int] = {}  # finished ops: they and everything below them
    for root, below in children.items():
        if root in expanded:
            continue
        path = {root: iter(below)}
        while path:
            op, rest = next(reversed(path.items()))
            unfinished = next((c for c in rest if c in children and c not in expanded), None)
            if unfinished is None:
                path.popitem()
                total = 1 + sum(expanded.get(child, 1) for child in children[op])
                if total > limits.expanded_children:
                    _too_large(f"its op metadata unfolds to more than {total - 1:,} ops")
                expanded[op] = total
            elif unfinished in path:
                raise LoaderError(
                    ErrorCode.MALFORMED,
                    "This profile can't be converted: its op metadata contains a cycle, so an op is "
                    "part of itself. Capture again, with a newer profiler if it happens again.",
                )
            elif len(path) >= limits.child_depth:
                _too_large(f"its op metadata is nested deeper than {limits.child_depth:,} levels")
            else:
                path[unfinished] = iter(children[unfinished])


def _scan_modules(walker: Walker, start: int, end: int, plane: Plane, limits: PlaneLimits) -> None:
    """Reads the names of all HLO modules and refuses those that are no plain file names."""
    known = _stat_names(walker, start, end)
    for stat, first, last in _event_stat_bytes(walker, start, end):
        try:
            name = _module_name(walker, first, last, limits)
        except WireError as error:
            if error.flaw is Flaw.TOO_MANY:
                raise
            # XProf 2.24.2 skips a group and uses a name behind it (measured).
            if error.flaw is Flaw.GROUP:
                _unsafe_module()
            plane.unreadable_modules += known.get(stat) == _HLO_STAT
        else:
            if name is not None:
                plane.modules.append(name.decode(errors="replace"))
            if len(plane.modules) > limits.modules:
                _too_large(f"it has more than {limits.modules:,} HLO modules")


def _event_stat_bytes(walker: Walker, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """All binary stats of a plane's event metadata: id of the stat, and bounds."""
    for first, last in _inside(walker, start, end, (_EVENT_METADATA, _VALUE, _EVENT_STAT)):
        stat = 0
        for tag, number, _ in walker.fields(first, last):
            if tag == _STAT_ID:
                stat = signed(number)
        for low, high in _inside(walker, first, last, (_STAT_BYTES,)):
            yield stat, low, high


def _module_name(walker: Walker, start: int, end: int, limits: PlaneLimits) -> bytes | None:
    """The name in an HloProto, if there is one; every name in it must be safe.

    Of several names protobuf takes the last, so a good one at the front proves nothing.
    """
    name = None
    for low, high in _inside(walker, start, end, (_HLO_MODULE, _MODULE_NAME)):
        name = walker.data[low : min(high, low + limits.module_name_bytes)]
        if high - low > limits.module_name_bytes or _leaves_its_folder(name):
            _unsafe_module()
    return name


def _scan_times(walker: Walker, start: int, end: int, plane: Plane) -> None:
    """Reads start and stop of the capture."""
    known = _stat_names(walker, start, end)
    for first, last in _inside(walker, start, end, (_PLANE_STAT,)):
        name, value = None, None
        for tag, number, _ in walker.fields(first, last):
            if tag == _STAT_ID:
                name = known.get(signed(number))
            elif tag in (_STAT_UINT64, _STAT_INT64):
                value = number
        if name == _START_STAT:
            plane.start_ns = value
        elif name == _STOP_STAT:
            plane.stop_ns = value


def _stat_names(walker: Walker, start: int, end: int) -> dict[int, bytes]:
    """Ids of the stats that are read here, and their names."""
    names: dict[int, bytes] = {}
    for first, last in _inside(walker, start, end, (_STAT_METADATA,)):
        key, name = 0, b""
        for tag, low, high in walker.fields(first, last):
            if tag == _KEY:
                key = signed(low)
            elif tag == _VALUE:
                for inner, left, right in walker.fields(low, high):
                    if inner == _EVENT_NAME:
                        name = walker.data[left : min(right, left + _LONGEST_STAT)]
        if name in _STATS and len(names) < _STAT_IDS:
            names[key] = name
    return names


def _inside(walker: Walker, start: int, end: int, path: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Bounds of all fields that a path of tags leads to."""
    for tag, first, last in walker.fields(start, end):
        if tag == path[0]:
            if len(path) == 1:
                yield first, last
            else:
                yield from _inside(walker, first, last, path[1:])


def _leaves_its_folder(name: bytes) -> bool:
    """Whether a module name, as a file name, could reach another folder or another file."""
    return b"/" in name or b"\0" in name or b".." in name


def _unsafe_module() -> NoReturn:
    raise LoaderError(
        ErrorCode.MALFORMED,
        "This profile can't be converted: it has an unsafe HLO module name, which would make XProf write "
        "outside of its folder. Rename the jitted function and capture again; if you did not make this "
        "profile yourself, do not trust it.",
    )


def _too_large(reason: str) -> NoReturn:
    raise LoaderError(
        ErrorCode.TOO_LARGE,
        f"This profile exceeds a limit: {reason}. Capture fewer steps or a smaller program.",
    )
