"""Counting the events of a profile, and finding the few that deserve a closer look.

Nearly all bytes of a profile are events, millions of them, and nearly all of these are unremarkable. So they
are not decoded: a tight loop jumps from one to the next by its length, and `loader.inspection.spots` looks at
their bytes, many at once, for what could be a nonsense time or an unreadable text. Only an event with such a
spot is decoded. Used by the inspection only.
"""

from __future__ import annotations

import mmap

from loader.inspection.limits import InspectionLimits
from loader.inspection.refusals import too_large
from loader.inspection.spots import PIECE, Spot, Spots
from loader.inspection.text import Texts
from loader.inspection.wire import Flaw, Walker, WireError, signed

# XLine, XEvent, XStat (XLA's tsl/profiler/protobuf/xplane.proto)
_LINE_NAME, _TIMESTAMP, _EVENT, _DISPLAY_NAME = 0x12, 0x18, 0x22, 0x5A
_OFFSET, _DURATION, _EVENT_STAT, _STAT_TEXT = 0x10, 0x18, 0x22, 0x2A

_LATEST_NS = 1 << 62
"""In the year 2116."""
_LATEST_PS = (1 << 63) - 1
_CLOSE_NS = 10**15 - 1
"""11 days: xprof-rs 0.1.3 counts times from the first line only if that starts later than this."""
_MARGIN_PS = 1 << 57
"""40 hours: what an event may last, or come after its line's start. Only larger times are spots."""
_MARGIN = (1 << 14) + 3
"""Longest event with a length of two bytes; a longer one is not jumped over but visited."""


class Lines:
    """Walks the lines of one file.

    Attributes:
        lines: lines so far.
        events: events so far.
        odd_lines: lines that start at a nonsense time.
        odd_events: events with a time that is negative or beyond int64.
        late_events: events with a time that is too long to be sure of sums with it.
    """

    def __init__(self, walker: Walker, texts: Texts, limits: InspectionLimits) -> None:
        self.lines = 0
        self.events = 0
        self.odd_lines = 0
        self.odd_events = 0
        self.late_events = 0
        self._start_ns = 0
        self._starts_ns: tuple[int, int] | None = None
        self._walker = walker
        self._texts = texts
        self._limits = limits
        self._spots = Spots(walker.data)
        self._piece = _Piece(walker.data)

    def scan(self, start: int, end: int) -> None:
        """Looks at the XLine in `data[start:end]`.

        Raises:
            LoaderError: TOO_LARGE, without a file name.
            WireError: it is no message.
        """
        self.lines += 1
        if self.lines > self._limits.lines:
            raise too_large(
                f"too many lines (more than the limit of {self._limits.lines:,})",
                "XPROF_HUB_MOST_LINES",
            )
        self._start_ns = 0
        self._walk(start, end)
        first, last = self._starts_ns or (self._start_ns, self._start_ns)
        self._starts_ns = min(first, self._start_ns), max(last, self._start_ns)

    @property
    def are_close(self) -> bool:
        """Whether every program counts the times of these lines alike.

        XProf counts picoseconds since the epoch in an int64, which starts anew every 213 days, and xprof-rs
        since the first line in an uint64, which ends.
        """
        if self.odd_lines or self.odd_events or self.late_events:
            return False
        first, last = self._starts_ns or (0, 0)
        return last - first <= _CLOSE_NS and (
            _rounds(first * 1000 - _MARGIN_PS) == _rounds(last * 1000 + _MARGIN_PS)
        )

    def _walk(self, start: int, end: int) -> None:
        """Looks at all fields of a line."""
        position = start
        while position < end:
            for tag, first, last in self._walker.fields(position, end):
                if tag == _EVENT:
                    self._count(1)
                    if self._spots.within(first, last):
                        self._look(first, last)
                    position = self._run(last, end)
                    break
                self._field(tag, first, last)
            else:
                return

    def _field(self, tag: int, first: int, last: int) -> None:
        """Looks at a field of a line that is no event."""
        if tag in (_LINE_NAME, _DISPLAY_NAME):
            self._texts.name(first, last)
        elif tag == _TIMESTAMP:
            self._start_ns = signed(first)
            self.odd_lines += not 0 <= self._start_ns <= _LATEST_NS

    def _run(self, start: int, end: int) -> int:
        """Counts events one after the other; gives the position of the first thing that is none."""
        while start < end:
            base = self._piece.load(start)
            limit = min(base + PIECE, end)
            position, count = jump(self._piece.data, start - base, limit - base)
            position += base
            if position > end:
                raise WireError(Flaw.ENDS_EARLY)
            self._count(count)
            if spots := self._spots.within(start, position):
                self._look_at(spots, base, start, position)
            if position < limit:
                return position
            start = position
        return start

    def _count(self, events: int) -> None:
        self.events += events
        if self.events > self._limits.events:
            raise too_large(
                f"too many events (more than the limit of {self._limits.events:,})",
                "XPROF_HUB_MOST_EVENTS",
            )

    def _look_at(self, spots: list[Spot], base: int, start: int, end: int) -> None:
        """Decodes those of the events in `data[start:end]`, which the piece holds, that hold a spot."""
        starts: set[int] | None = None
        for spot, head in spots:
            if spot < start:  # in the event that was decoded last
                continue
            if head:
                if starts is None:
                    starts = _starts(self._piece.data, start - base, end - base)
                if head - base not in starts:
                    continue
            start = base + _find(self._piece.data, start - base, spot - base)
            _, first, last = next(self._walker.fields(start, end))
            self._look(first, last)
            start = last

    def _look(self, start: int, end: int) -> None:
        """Decodes one event."""
        offset = duration = 0
        for tag, first, last in self._walker.fields(start, end):
            if tag == _OFFSET:
                offset = signed(first)
            elif tag == _DURATION:
                duration = signed(first)
            elif tag == _EVENT_STAT:
                for inner, low, high in self._walker.fields(first, last):
                    if inner == _STAT_TEXT:
                        self._texts.check(low, high)
        self.odd_events += offset < 0 or duration < 0 or offset + duration > _LATEST_PS
        self.late_events += offset + duration > _MARGIN_PS


def _rounds(time_ps: int) -> int:
    """How often an int64 that counts up to this time has started anew."""
    return (time_ps + (1 << 63)) >> 64


def jump(piece: bytes, position: int, limit: int) -> tuple[int, int]:
    """Jumps from event to event until one starts at the limit or behind it, or something else comes.

    Needs three bytes behind the limit. Gives the position and the number of events.
    """
    count = 0
    while position < limit and piece[position] == _EVENT:
        length = piece[position + 1]
        if length < 0x80:
            position += length + 2
        else:
            high = piece[position + 2]
            if high > 0x7F:
                break
            position += (length & 0x7F | high << 7) + 3
        count += 1
    return position, count


def _find(piece: bytes, position: int, spot: int) -> int:
    """Where the event starts that holds the spot; from the position to the spot there are only events."""
    while True:
        length = piece[position + 1]
        if length < 0x80:
            following = position + length + 2
        else:
            following = position + (length & 0x7F | piece[position + 2] << 7) + 3
        if following > spot:
            return position
        position = following


def _starts(piece: bytes, position: int, end: int) -> set[int]:
    """Where the events start that lie one after the other from the position to the end."""
    starts = set()
    while position < end:
        starts.add(position)
        length = piece[position + 1]
        if length < 0x80:
            position += length + 2
        else:
            position += (length & 0x7F | piece[position + 2] << 7) + 3
    return starts


class _Piece:
    """A copy of a part of the file: indexing bytes is twice as fast as indexing a mapped file.

    Attributes:
        data: at least `PIECE + 3` bytes; zeros behind the end of the file.
    """

    def __init__(self, source: bytes | mmap.mmap) -> None:
        self.data = b""
        self._source = source
        self._base = 0

    def load(self, position: int) -> int:
        """Makes `data` hold the position's neighbourhood; gives where in the file `data` starts."""
        if not self._base <= position < self._base + PIECE or not self.data:
            forget(self._source, self._base, position)
            self._base = position
            self.data = self._source[position : position + PIECE + _MARGIN]
            self.data += bytes(max(0, PIECE + 3 - len(self.data)))
        return self._base


def forget(data: bytes | mmap.mmap, first: int, last: int) -> None:
    """Lets the system take back the memory of a part of a mapped file that was looked at."""
    if isinstance(data, mmap.mmap) and last > first:
        first -= first % mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, first, last - first)
