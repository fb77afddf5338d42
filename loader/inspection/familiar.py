"""Entries of metadata that were looked at before, byte for byte, and what there was to know of them.

All chips and all hosts of a job run the same program, so that most of their metadata is the same: of a slice
of TPUs nearly every entry stands in each plane of each file. Looking at one takes twenty times as long as
finding it here. Only what is unremarkable is kept: no text that must be repaired, no op with children.
Nothing is concluded from a digest or a name; the bytes themselves are compared. Used by the inspection only.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

LONGEST = 2048
"""Bytes of an entry; longer ones are few, and would push out many."""
_MOST_BYTES = 16 << 20
_ITEM_BYTES = 400
"""About what an entry takes besides its bytes."""


class EventKind(NamedTuple):
    """An entry of a plane's event metadata.

    Attributes:
        key: its key.
        is_misnamed: whether it states another id.
        longest_name: bytes of its longest name.
        told: what its names tell (`contents.Marks`).
        fields: how many fields were visited to look at it.
    """

    key: int
    is_misnamed: bool
    longest_name: int
    told: int
    fields: int


class StatKind(NamedTuple):
    """An entry of a plane's stat metadata.

    Attributes:
        key: its key.
        is_misnamed: whether it states another id.
        name: its name, or the beginning of that.
        fields: how many fields were visited to look at it.
    """

    key: int
    is_misnamed: bool
    name: bytes
    fields: int


class Familiar:
    """The entries of some profiles. Thread-safe.

    Once it is full it takes no more of this profile, whose other planes mostly have what came first; the next
    profile begins anew.
    """

    def __init__(self) -> None:
        self._events: dict[bytes, EventKind] = {}
        self._stats: dict[bytes, StatKind] = {}
        self._room = _MOST_BYTES
        self._lock = threading.Lock()

    def begin_profile(self) -> None:
        """Forgets everything if it is full."""
        with self._lock:
            if self._room <= 0:
                self._events, self._stats = {}, {}
                self._room = _MOST_BYTES

    def event(self, entry: bytes) -> EventKind | None:
        """What is known of these bytes as an entry of event metadata."""
        return self._events.get(entry)

    def stat(self, entry: bytes) -> StatKind | None:
        """What is known of these bytes as an entry of stat metadata."""
        return self._stats.get(entry)

    def keep_event(self, entry: bytes, kind: EventKind) -> None:
        """Keeps an entry of event metadata that needs no repair and refers to nothing, if there is room."""
        if self._has_room_for(entry):
            self._events[entry] = kind

    def keep_stat(self, entry: bytes, kind: StatKind) -> None:
        """Keeps an entry of stat metadata that needs no repair, if there is room."""
        if self._has_room_for(entry):
            self._stats[entry] = kind

    def _has_room_for(self, entry: bytes) -> bool:
        with self._lock:
            if self._room > 0:
                self._room -= len(entry) + _ITEM_BYTES
                return True
            return False
