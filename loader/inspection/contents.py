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
_MEMORY, _HOST_OPS, _COUNTERS, _MEGASCALES = 1, 2, 4, 8
"""What is told, as bits: it is put together for every entry of metadata."""


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
    """Notices the names of events and stats that tell what a profile may hold."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._told = 0
        self._data = data

    @property
    def memory_events(self) -> bool:
        """See `Contents.has_memory_events`; likewise the others."""
        return bool(self._told & _MEMORY)

    @property
    def host_ops(self) -> bool:
        """Whether there may be operations that ran on the host."""
        return bool(self._told & _HOST_OPS)

    @property
    def counters(self) -> bool:
        """Whether there may be values of counters."""
        return bool(self._told & _COUNTERS)

    @property
    def megascale(self) -> bool:
        """Whether there may be transfers between slices."""
        return bool(self._told & _MEGASCALES)

    def event(self, first: int, last: int) -> int:
        """Looks at the name of a kind of events, `data[first:last]`; gives what `again` takes."""
        told = _HOST_OPS if self._may_be_op(first, last) else 0
        if first < last and self._data[first] in _M:
            name = self._data[first : min(last, first + _LONGEST + 1)]
            if name in _MEMORY_EVENTS:
                told |= _MEMORY
            if name.startswith(_MEGASCALE):
                told |= _MEGASCALES
            if name[: len(_COPY)].lower() == _COPY:
                told |= _HOST_OPS
        self._told |= told
        return told

    def again(self, told: int) -> None:
        """Notices again what the names of a kind of events told before."""
        self._told |= told

    def stat(self, name: bytes) -> None:
        """Looks at the name of a stat, or its beginning."""
        if name.startswith(_COUNTER):
            self._told |= _COUNTERS
        if name.endswith(_OP_STATS):
            self._told |= _HOST_OPS

    def _may_be_op(self, first: int, last: int) -> bool:
        """Whether XProf might read the name as `name:Type`, the operation of a framework."""
        colon = self._data.find(b":", first, last)
        if colon < 0:
            return False
        if colon + 1 == last or self._data[first : colon + 1] == _ITERATOR:
            return True
        following = self._data[colon + 1]
        return following == 0x5F or (following < 0x80 and chr(following).isalpha())
