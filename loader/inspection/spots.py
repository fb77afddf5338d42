"""Where, among the bytes of many events, something may be wrong: a nonsense time, an unreadable text.

NumPy looks at the bytes as they are, without knowing where an event begins. The spots are chosen so that none
is missed in what protobuf libraries write; how, and what can be missed, is said in
docs/adr/012-inspection.md. Used by `loader.inspection.events` only.
"""

from __future__ import annotations

from bisect import bisect_left
from mmap import mmap

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 18
"""Bytes looked at in one go; what fits the processor's cache is twice as fast as a megabyte."""
Spot = tuple[int, int]
"""A position that may be wrong; and if it only is when an event begins there, where that is, else 0."""

# XEvent, XStat (XLA's tsl/profiler/protobuf/xplane.proto)
_OFFSET, _DURATION, _EVENT_STAT = 0x10, 0x18, 0x22
_STAT_ID, _STAT_DOUBLE, _STAT_TEXT = 0x08, 0x11, 0x2A

_BEFORE = 9
"""Bytes in front of a spot that are needed to judge it: a double with its tag."""
_AFTER = 8
"""Bytes behind it: a long number."""


class Spots:
    """Positions in a file where an event may hold a nonsense time or an unreadable text."""

    def __init__(self, source: bytes | mmap) -> None:
        self._source = source
        self._base = -1
        self._found: list[Spot] = []

    def within(self, first: int, last: int) -> list[Spot]:
        """The spots in `data[first:last]`, sorted."""
        if first // PIECE == (last - 1) // PIECE:
            return self._part(first, last)
        found: list[Spot] = []
        for base in range(first - first % PIECE, last, PIECE):
            found += self._part(max(first, base), min(last, base + PIECE))
        return found

    def _part(self, first: int, last: int) -> list[Spot]:
        """The same within one piece, which is searched when it is first asked for."""
        base = first - first % PIECE
        if base != self._base:
            self._base, self._found = base, self._search(base)
        if not self._found:
            return self._found
        return self._found[
            bisect_left(self._found, (first, 0)) : bisect_left(self._found, (last, 0))
        ]

    def _search(self, base: int) -> list[Spot]:
        """The spots in the piece that starts at the base."""
        before = min(base, _BEFORE)
        raw = self._source[base - before : base + PIECE + _AFTER]
        data = np.frombuffer(bytes(_BEFORE - before) + raw + bytes(_AFTER), np.uint8)
        high = data >= 0x80
        times, texts = _long_times(data, high), _texts(data, high)
        spots = np.concatenate((times, texts))
        if not len(spots):
            return []
        heads = np.concatenate((_stat_heads(data, times), np.zeros(len(texts), np.intp)))
        is_here = (spots >= _BEFORE) & (spots < _BEFORE + PIECE)
        to_file = base - _BEFORE
        places = (spots[is_here] + to_file).tolist()
        starts = np.where(heads > 0, heads + to_file, 0)[is_here].tolist()
        return sorted(zip(places, starts, strict=True))


def _long_times(data: NDArray[np.uint8], high: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Where an offset or a duration of nine bytes or more may begin: 2^56 ps (20 hours) or more, or negative.

    Each of a number's bytes but the last has its high bit set.
    """
    runs = high[:-1] & high[1:]
    runs = runs[:-2] & runs[2:]
    runs = runs[:-4] & runs[4:]
    starts = np.flatnonzero(runs)
    starts = starts[starts >= _BEFORE]
    tag = data[starts - 1]
    found: NDArray[np.intp] = starts[(tag == _OFFSET) | (tag == _DURATION)]
    return found


def _stat_heads(data: NDArray[np.uint8], times: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each number that may be a duration: where the stat begins, if it may be a stat's as well, else 0.

    A duration and a stat's unsigned number have the same tag, and numbers that large are usual in stats. A
    stat is nothing but its id and the number, and so its length says whether it may be one.
    """
    length = np.where(data[times + 8] < 0x80, 9, 10) + 3
    is_short = (data[times - 5] == _EVENT_STAT) & (data[times - 4] == length)
    is_short &= (data[times - 3] == _STAT_ID) & (data[times - 2] < 0x80)
    is_longer = (data[times - 6] == _EVENT_STAT) & (data[times - 5] == length + 1)
    is_longer &= (data[times - 4] == _STAT_ID) & (data[times - 3] >= 0x80)
    found: NDArray[np.intp] = np.where(is_short, times - 5, np.where(is_longer, times - 6, 0))
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
