"""Counting the events of a profile, and finding the few that deserve a closer look.

Nearly all bytes of a profile are events, millions of them, and nearly all of these are unremarkable. So they
are not decoded: a tight loop jumps from one to the next by its length, and NumPy looks at their bytes as they
are, many at once, for what could be a nonsense time or an unreadable text. Only an event with such a spot is
decoded. The spots are chosen so that none is missed in what protobuf libraries write; how, and what can be
missed, is said in docs/adr/012-inspection.md. Used by the inspection only.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from loader.inspect_limits import InspectionLimits
from loader.inspect_refusals import too_large
from loader.inspect_text import Texts
from loader.wire import Flaw, Walker, WireError, signed

# XLine, XEvent, XStat (XLA's tsl/profiler/protobuf/xplane.proto)
_LINE_NAME, _TIMESTAMP, _EVENT, _DISPLAY_NAME = 0x12, 0x18, 0x22, 0x5A
_OFFSET, _DURATION, _EVENT_STAT = 0x10, 0x18, 0x22
_STAT_ID, _STAT_DOUBLE, _STAT_TEXT = 0x08, 0x11, 0x2A

_LATEST_NS = 1 << 62
"""In the year 2116."""
_LATEST_PS = (1 << 63) - 1
_PIECE = 1 << 18
"""Bytes looked at in one go; what fits the processor's cache is twice as fast as a megabyte."""
_MARGIN = (1 << 14) + 3
"""Longest event with a length of two bytes; a longer one is not jumped over but visited."""
_BEFORE = 9
"""Bytes in front of a spot that are needed to judge it: a double with its tag."""
_AFTER = 8


class Lines:
    """Walks the lines of one file.

    Attributes:
        lines: lines so far.
        events: events so far.
        odd_lines: lines that start at a nonsense time.
        odd_events: events with a time that is negative or beyond int64.
    """

    def __init__(self, walker: Walker, texts: Texts, limits: InspectionLimits) -> None:
        self.lines = 0
        self.events = 0
        self.odd_lines = 0
        self.odd_events = 0
        self._walker = walker
        self._texts = texts
        self._limits = limits
        self._spots = _Spots(walker.data)
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
        elif tag == _TIMESTAMP and not 0 <= signed(first) <= _LATEST_NS:
            self.odd_lines += 1

    def _run(self, start: int, end: int) -> int:
        """Counts events one after the other; gives the position of the first thing that is none."""
        while start < end:
            base = self._piece.load(start)
            limit = min(base + _PIECE, end)
            position, count = _jump(self._piece.data, start - base, limit - base)
            position += base
            if position > end:
                raise WireError(Flaw.ENDS_EARLY)
            self._count(count)
            spots = self._spots.within(start, position)
            if spots:
                self._look_at(spots, base, start)
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

    def _look_at(self, spots: list[int], base: int, start: int) -> None:
        """Decodes those events of the piece that hold a spot, from the event at `start` on."""
        for spot in spots:
            if spot >= start:
                start = base + _find(self._piece.data, start - base, spot - base)
                for _, first, last in self._walker.fields(start, base + len(self._piece.data)):
                    self._look(first, last)
                    start = last
                    break

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


def _jump(piece: bytes, position: int, limit: int) -> tuple[int, int]:
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


class _Piece:
    """A copy of a part of the file: indexing bytes is twice as fast as indexing a mapped file.

    Attributes:
        data: at least `_PIECE + 3` bytes; zeros behind the end of the file.
    """

    def __init__(self, source: bytes | mmap.mmap) -> None:
        self.data = b""
        self._source = source
        self._base = 0

    def load(self, position: int) -> int:
        """Makes `data` hold the position's neighbourhood; gives where in the file `data` starts."""
        if not self._base <= position < self._base + _PIECE or not self.data:
            _forget(self._source, self._base, position)
            self._base = position
            self.data = self._source[position : position + _PIECE + _MARGIN]
            self.data += bytes(max(0, _PIECE + 3 - len(self.data)))
        return self._base


class _Spots:
    """Positions in a file where an event may hold a nonsense time or an unreadable text.

    They are found without knowing where an event begins, a piece at a time, by what must stand around them.
    """

    def __init__(self, source: bytes | mmap.mmap) -> None:
        self._source = source
        self._base = -1
        self._found: list[int] = []

    def within(self, first: int, last: int) -> list[int]:
        """The spots in `data[first:last]`, sorted."""
        if first // _PIECE == (last - 1) // _PIECE:
            return self._part(first, last)
        found: list[int] = []
        for base in range(first - first % _PIECE, last, _PIECE):
            found += self._part(max(first, base), min(last, base + _PIECE))
        return found

    def _part(self, first: int, last: int) -> list[int]:
        """The same within one piece."""
        base = first - first % _PIECE
        if base != self._base:
            self._base, self._found = base, self._search(base)
        if not self._found:
            return self._found
        return self._found[bisect_left(self._found, first) : bisect_right(self._found, last - 1)]

    def _search(self, base: int) -> list[int]:
        """The spots in the piece that starts at the base."""
        before = min(base, _BEFORE)
        raw = self._source[base - before : base + _PIECE + _AFTER]
        data = np.frombuffer(bytes(_BEFORE - before) + raw + bytes(_AFTER), np.uint8)
        high = data >= 0x80
        spots = np.concatenate((_long_times(data, high), _texts(data, high))) - _BEFORE
        spots = spots[(spots >= 0) & (spots < _PIECE)]
        return (np.unique(spots) + base).tolist() if len(spots) else []


def _long_times(data: NDArray[np.uint8], high: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Where an offset or a duration of nine bytes or more may begin: 2^56 ps (20 hours) or more, or negative.

    Each of a number's bytes but the last has its high bit set.
    """
    runs = high[:-1] & high[1:]
    runs = runs[:-2] & runs[2:]
    runs = runs[:-4] & runs[4:]
    starts = np.flatnonzero(runs)
    starts = starts[starts > 0]
    tag = data[starts - 1]
    found: NDArray[np.intp] = starts[(tag == _OFFSET) | (tag == _DURATION)]
    return found


def _texts(data: NDArray[np.uint8], high: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Where the tag of a stat's text may stand whose content is not plain ASCII.

    In front of it stands the stat's id (tag and one or two bytes), or the stat's length when the text comes
    first, or a double: so the same byte within a number or an id is mostly told apart.
    """
    tags: NDArray[np.intp] = np.flatnonzero(data[:-_AFTER] == _STAT_TEXT)
    tags = tags[tags >= _BEFORE]
    second, before = data[tags - 2], data[tags - 1]
    comes_first = (second == _EVENT_STAT) & (data[tags + 1].astype(np.int16) + 2 <= before)
    follows_number = (second == _STAT_ID) | (second >= 0x80) | comes_first
    follows_number &= before < 0x80
    tags = tags[follows_number | (data[tags - 9] == _STAT_DOUBLE)]
    length = data[tags + 1].astype(np.int64)
    first = tags + 2
    last = first + length
    high_at = np.flatnonzero(high)
    has_high = np.searchsorted(high_at, first) < np.searchsorted(high_at, last)
    is_long, reaches_out = length >= 0x80, last > len(data)
    found: NDArray[np.intp] = tags[is_long | has_high | reaches_out]
    return found


def _forget(data: bytes | mmap.mmap, first: int, last: int) -> None:
    """Lets the system take back the memory of a part of a mapped file that was looked at."""
    if isinstance(data, mmap.mmap) and last > first:
        first -= first % mmap.PAGESIZE
        data.madvise(mmap.MADV_DONTNEED, first, last - first)
