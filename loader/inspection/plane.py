"""What must be known of one plane of a profile before the engine sees it.

Field numbers are those of XLA's tsl/profiler/protobuf/xplane.proto. Lines are left to
`loader.inspection.events`, HLO modules to `loader.inspection.modules`, references between ops to
`loader.inspection.ops`. Used by `loader.intake.inspect` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loader.inspection.contents import Marks
from loader.inspection.events import Lines
from loader.inspection.familiar import LONGEST, EventKind, Familiar, StatKind
from loader.inspection.limits import InspectionLimits
from loader.inspection.modules import HLO_STAT, Modules
from loader.inspection.ops import Ops
from loader.inspection.refusals import another_protobuf
from loader.inspection.text import Texts
from loader.inspection.wire import Walker, signed

METADATA_PLANE = b"/host:metadata"
"""The plane that carries HLO modules."""
TASK_PLANE = b"Task Environment"
"""The plane that carries the capture's start and stop."""

_START_STAT = b"profile_start_time"
_STOP_STAT = b"profile_stop_time"
_STATS = frozenset({HLO_STAT, _START_STAT, _STOP_STAT})
_STAT_IDS = 64  # a true plane names each once; more only cost memory
_QUICK_BYTES = 1 << 16

# XPlane
_ID, _NAME, _LINE, _EVENT_METADATA, _STAT_METADATA, _PLANE_STAT = (
    0x08,
    0x12,
    0x1A,
    0x22,
    0x2A,
    0x32,
)
_FIRST_UNKNOWN = 0x38
# Entry of a map, XEventMetadata, XStatMetadata (whose ids have the tag of the entry's key), XStat
_KEY, _VALUE = 0x08, 0x12
_EVENT_NAME, _DISPLAY_NAME, _EVENT_STAT, _CHILD, _CHILDREN = 0x12, 0x22, 0x2A, 0x30, 0x32
_STAT_NAME, _DESCRIPTION = 0x12, 0x1A
_STAT_ID, _STAT_UINT64, _STAT_INT64, _STAT_TEXT = 0x08, 0x18, 0x20, 0x2A


@dataclass
class Plane:
    """One plane, as far as it was looked at.

    Attributes:
        name: as in the file, empty when it has none.
        has_lines: whether it has a timeline.
        has_content: whether it has anything but a name and an id.
        events: events in its lines.
        start_ns: start of the capture since the epoch, only in the task plane.
        stop_ns: its end.
    """

    name: bytes = b""
    has_lines: bool = False
    has_content: bool = False
    events: int = 0
    start_ns: int | None = None
    stop_ns: int | None = None


class Planes:
    """Looks at the planes of one file.

    Attributes:
        lines: what is known of all lines.
        modules: what is known of all HLO modules.
        texts: what is known of all texts, and what must be repaired.
        marks: what their names tell of what is in them.
        misnamed: metadata that states another id than the one it is found under; programs differ on which
            of them counts.
    """

    def __init__(
        self, walker: Walker, limits: InspectionLimits, familiar: Familiar | None = None
    ) -> None:
        self.texts = Texts(walker.data, limits)
        self.lines = Lines(walker, self.texts, limits)
        self.modules = Modules(walker, self.texts, limits)
        self.marks = Marks(walker.data)
        self.misnamed = 0
        self._walker = walker
        self._limits = limits
        self._familiar = familiar or Familiar()
        self._familiar.begin_profile()

    def scan(self, start: int, end: int) -> Plane:
        """Looks at the XPlane message in `data[start:end]`.

        Raises:
            LoaderError: MALFORMED or TOO_LARGE, without a file name.
            WireError: it is no message.
        """
        plane = Plane()
        ops = Ops(self._limits)
        stats: dict[int, bytes] = {}
        events_before = self.lines.events
        for tag, first, last in self._walker.fields(start, end):
            if tag == _LINE:
                plane.has_lines = True
                self.lines.scan(first, last)
            elif tag == _EVENT_METADATA:
                self._event_metadata(first, last, ops)
            elif tag == _STAT_METADATA:
                self._stat_metadata(first, last, stats)
            elif tag == _PLANE_STAT:
                self._stat(first, last)
            elif tag == _NAME:
                self.texts.name(first, last)
                plane.name = self._walker.data[first:last]
            elif tag != _ID and tag < _FIRST_UNKNOWN:  # a known number with a foreign type
                raise another_protobuf()
            plane.has_content |= tag not in (_NAME, _ID)
        ops.check()
        plane.events = self.lines.events - events_before
        if plane.name == METADATA_PLANE:
            self.modules.scan(start, end, stats)
        elif plane.name == TASK_PLANE:
            self._times(start, end, plane, stats)
        return plane

    def _event_metadata(self, start: int, end: int, ops: Ops) -> None:
        """Looks at one entry of the event metadata map, unless it is known."""
        if end - start > LONGEST:
            self._new_event_kind(start, end, ops)
            return
        entry = self._walker.data[start:end]
        known = self._familiar.event(entry)
        if known is not None:
            self._walker.pass_over(known.fields)
            self.texts.measure(known.longest_name)
            self.marks.again(known.told)
            self.misnamed += known.is_misnamed
            ops.note(known.key, [])
            return
        left, remarkable = self._walker.left, self.texts.remarkable
        kind = self._new_event_kind(start, end, ops)
        if kind is not None and remarkable == self.texts.remarkable:
            self._familiar.keep_event(entry, kind._replace(fields=left - self._walker.left))

    def _new_event_kind(self, start: int, end: int, ops: Ops) -> EventKind | None:
        """Looks at names, stats and children of one entry; what is known of it if it has no children."""
        walker = self._walker
        key = stated = longest = told = 0
        children: list[int] = []
        for tag, first, last in walker.fields(start, end):
            if tag == _KEY:
                key = signed(first)
            elif tag == _VALUE:
                for inner, low, high in walker.fields(first, last):
                    if inner in (_EVENT_NAME, _DISPLAY_NAME):
                        self.texts.name(low, high)
                        told |= self.marks.event(low, high)
                        longest = max(longest, high - low)
                    elif inner == _EVENT_STAT:
                        self._stat(low, high)
                    elif inner == _CHILD:
                        ops.add((low,), children)
                    elif inner == _CHILDREN:
                        ops.add(walker.numbers(low, high), children)
                    elif inner == _KEY:
                        stated = signed(low)
        self.misnamed += stated != key
        ops.note(key, children)
        return None if children else EventKind(key, stated != key, longest, told, 0)

    def _stat_metadata(self, start: int, end: int, stats: dict[int, bytes]) -> None:
        """Looks at one entry of the stat metadata map, unless it is known; notes the stats that are read."""
        entry = self._walker.data[start:end] if end - start <= LONGEST else b""
        kind = self._familiar.stat(entry)
        if kind is None:
            left, remarkable = self._walker.left, self.texts.remarkable
            kind = self._new_stat_kind(start, end)
            if entry and remarkable == self.texts.remarkable:
                self._familiar.keep_stat(entry, kind._replace(fields=left - self._walker.left))
        else:
            self._walker.pass_over(kind.fields)
        self.misnamed += kind.is_misnamed
        self.marks.stat(kind.name)
        stats.pop(kind.key, None)
        if kind.name in _STATS and len(stats) < _STAT_IDS:
            stats[kind.key] = kind.name

    def _new_stat_kind(self, start: int, end: int) -> StatKind:
        """Looks at the texts of one entry of the stat metadata map."""
        walker = self._walker
        key, stated, name = 0, 0, b""
        for tag, first, last in walker.fields(start, end):
            if tag == _KEY:
                key = signed(first)
            elif tag == _VALUE:
                for inner, low, high in walker.fields(first, last):
                    if inner == _STAT_NAME:
                        self.texts.check(low, high, is_name=True)
                        name = walker.data[low : min(high, low + 64)]
                    elif inner == _DESCRIPTION:
                        self.texts.check(low, high)
                    elif inner == _KEY:
                        stated = signed(low)
        return StatKind(key, stated != key, name, 0)

    def _stat(self, start: int, end: int) -> None:
        """Looks at the text of a stat, if it has one."""
        if end - start <= _QUICK_BYTES and self._walker.data[start:end].isascii():
            return
        for tag, first, last in self._walker.fields(start, end):
            if tag == _STAT_TEXT:
                self.texts.check(first, last)

    def _times(self, start: int, end: int, plane: Plane, stats: Mapping[int, bytes]) -> None:
        """Reads start and stop of the capture."""
        for first, last in self._walker.inside(start, end, (_PLANE_STAT,)):
            name, value = None, None
            for tag, number, _ in self._walker.fields(first, last):
                if tag == _STAT_ID:
                    name = stats.get(signed(number))
                elif tag in (_STAT_UINT64, _STAT_INT64):
                    value = number
            if name == _START_STAT:
                plane.start_ns = value
            elif name == _STOP_STAT:
                plane.stop_ns = value
