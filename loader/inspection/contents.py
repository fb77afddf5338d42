"""What kinds of things a profile holds, as far as XProf's tools need them.

Only absence is ever concluded from it, so every doubt counts as presence: a name that an event could have
counts, whether an event has it or not. Facts: xprof 2.24.2 (tests/integration/test_tool_fitness.py asks it).
`Marks` is used by the inspection only.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass

TPU_PREFIX, GPU_PREFIX = b"/device:TPU:", b"/device:GPU:"
"""What the names of the planes begin with whose events XProf counts as work of a device."""

_MEMORY_EVENTS = frozenset({b"MemoryAllocation", b"MemoryDeallocation"})
_MEGASCALE = b"MegaScale:"
_COUNTER = b"counter_value"
_OP_STATS = (b"tf_op", b"stage_id")
_ITERATOR = b"Iterator:"
_COPY = b"memcpy"
_LONGEST = max(len(name) for name in (*_MEMORY_EVENTS, _MEGASCALE, _ITERATOR))
_M = frozenset(b"Mm")


@dataclass(frozen=True)
class Contents:
    """What a profile holds.

    Attributes:
        tpu_planes: planes of TPUs.
        gpu_planes: planes of GPUs.
        device_events: events in the planes of TPUs and GPUs.
        hlo_modules: HLO modules, readable or not.
        has_memory_events: whether allocations or releases of memory may be there.
        has_host_ops: whether operations of a framework may be there that ran on the host.
        has_counters: whether values of hardware counters may be there.
        has_megascale: whether transfers between TPU slices may be there.
    """

    tpu_planes: int = 0
    gpu_planes: int = 0
    device_events: int = 0
    hlo_modules: int = 0
    has_memory_events: bool = False
    has_host_ops: bool = False
    has_counters: bool = False
    has_megascale: bool = False


class Marks:
    """Notices the names of events and stats that tell what a profile may hold.

    Attributes:
        memory_events: see `Contents.has_memory_events`; likewise the others.
    """

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.memory_events = False
        self.host_ops = False
        self.counters = False
        self.megascale = False
        self._data = data

    def event(self, first: int, last: int) -> None:
        """Looks at the name of a kind of events, `data[first:last]`."""
        data = self._data
        if not self.host_ops:
            self.host_ops = self._may_be_op(first, last)
        if first < last and data[first] in _M:
            name = data[first : min(last, first + _LONGEST + 1)]
            self.memory_events |= name in _MEMORY_EVENTS
            self.megascale |= name.startswith(_MEGASCALE)
            self.host_ops |= name[: len(_COPY)].lower() == _COPY

    def stat(self, name: bytes) -> None:
        """Looks at the name of a stat, or its beginning."""
        self.counters |= name.startswith(_COUNTER)
        self.host_ops |= name.endswith(_OP_STATS)

    def _may_be_op(self, first: int, last: int) -> bool:
        """Whether XProf might read the name as `name:Type`, the operation of a framework."""
        colon = self._data.find(b":", first, last)
        if colon < 0:
            return False
        if colon + 1 == last or self._data[first : colon + 1] == _ITERATOR:
            return True
        following = self._data[colon + 1]
        return following == 0x5F or (following < 0x80 and chr(following).isalpha())
