"""Writes what the allocator of a host's first core reports: a heap that swells and shrinks with every step.

A step's forward pass keeps activations, its backward pass lets go of them, last one first; parameters and the
optimizer's state were there before the profile began. XProf reads the numbers of these events as signed, and
takes the step from `group_id`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from server.demo.device import HostPlan, Step
from server.demo.hlo import TPU_V5P
from server.demo.messages import Line
from server.demo.planes import PlaneWriter

ALLOCATOR = "TPU_0_bfc"

_ALIGNMENT = 512
_FIRST_ADDRESS = 1 << 32
_STACK_BYTES = 1 << 30
"""Reserved for the running program's own buffers."""
_LIVE_BYTES_AT_START = 24 << 30
"""Parameters and the optimizer's state."""
_FORWARD, _BACKWARD = (0.05, 0.42), (0.46, 0.97)
"""Parts of a step."""
_LEAST_FRAGMENTATION, _FRAGMENTATION_JITTER, _FRAGMENTATION_OF_SWELLING = 0.01, 0.004, 0.08
_EVENT_PS = 1
"""XProf would count longer ones as time of ops."""
# TensorFlow's DataType numbers, which XProf spells out, and bytes of an element.
_FLOAT, _BFLOAT16, _INT32 = (1, 4), (14, 2), (3, 4)
_BATCH, _LENGTH, _WIDTH, _HEADS = 128, 2048, 2048, 16


@dataclass(frozen=True)
class _Buffer:
    """Something that a step keeps for its backward pass."""

    operation: str
    shape: tuple[int, ...]
    data_type: tuple[int, int]
    region: str = "temp"

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * self.data_type[1]


_INPUT = _Buffer("jit(train_step)/convert_element_type", (_BATCH, _LENGTH), _INT32, "input")
_LAYER = (
    _Buffer("layer_norm/rsqrt", (_BATCH, _LENGTH, 1), _FLOAT),
    _Buffer("attention/query_key_value/dot_general", (_BATCH, _LENGTH, 3 * _WIDTH), _BFLOAT16),
    _Buffer("attention/softmax/reduce_max", (_BATCH, _HEADS, _LENGTH), _FLOAT),
    _Buffer("attention/dot_general", (_BATCH, _LENGTH, _WIDTH), _BFLOAT16),
    _Buffer("mlp/dot_general", (_BATCH, _LENGTH, 2 * _WIDTH), _BFLOAT16),
)


def _kept(count: int) -> list[_Buffer]:
    """The buffers of one step in the order of its forward pass: its input, then layer by layer."""
    kept = [_INPUT]
    for number in range(count - 1):
        layer, part = divmod(number, len(_LAYER))
        model = _LAYER[part]
        name = f"jit(train_step)/jvp(Transformer)/layer_{layer}/{model.operation}"
        kept.append(_Buffer(name, model.shape, model.data_type))
    return kept


class AllocationsWriter:
    """The events of one allocator, on one line of a host's plane."""

    def __init__(self, writer: PlaneWriter, line: Line, plan: HostPlan) -> None:
        self._writer = writer
        self._line = line
        self._random = plan.random("allocations")
        self._live = self._peak = _LIVE_BYTES_AT_START

    def write(self, step: Step, pairs: int) -> None:
        """Adds `pairs` allocations and as many releases to a step."""
        kept = _kept(pairs)
        address = _FIRST_ADDRESS
        placed = []
        for number, buffer in enumerate(kept):
            self._add(step, self._moment(step, _FORWARD, number / pairs), buffer, address, 1)
            placed.append((buffer, address))
            address += buffer.size
        for number, (buffer, address) in enumerate(reversed(placed)):
            self._add(step, self._moment(step, _BACKWARD, number / pairs), buffer, address, -1)

    def _moment(self, step: Step, part: tuple[float, float], share: float) -> int:
        start, end = part
        return step.begin_ps + int((step.end_ps - step.begin_ps) * (start + (end - start) * share))

    def _add(self, step: Step, begin_ps: int, buffer: _Buffer, address: int, sign: int) -> None:
        size = -(-buffer.size // _ALIGNMENT) * _ALIGNMENT
        self._live += sign * size
        self._peak = max(self._peak, self._live)
        name = "MemoryAllocation" if sign > 0 else "MemoryDeallocation"
        event = self._writer.add_event(self._line, name, begin_ps, _EVENT_PS)
        for stat, number in (
            ("bytes_reserved", _STACK_BYTES),
            ("bytes_allocated", self._live),
            ("bytes_available", TPU_V5P.memory_bytes - _STACK_BYTES - self._live),
            ("peak_bytes_in_use", self._peak),
            ("requested_bytes", buffer.size),
            ("allocation_bytes", size),
            ("addr", address),
            ("group_id", step.number),
        ):
            self._writer.add_signed(event, stat, number)
        self._writer.add_stat(event, "fragmentation", self._fragmentation())
        self._writer.add_reference(event, "allocator_name", ALLOCATOR)
        if sign > 0:
            self._writer.add_reference(event, "tf_op", buffer.operation)
            self._writer.add_reference(event, "region_type", buffer.region)
            self._writer.add_reference(event, "shape", str(list(buffer.shape)).replace(" ", ""))
            self._writer.add_signed(event, "data_type", buffer.data_type[0])

    def _fragmentation(self) -> float:
        """The share of free memory that lies in pieces: more of it while there is much that will go again."""
        swelling = (self._live - _LIVE_BYTES_AT_START) / _LIVE_BYTES_AT_START
        jitter = _FRAGMENTATION_JITTER * self._random.random()
        return _LEAST_FRAGMENTATION + _FRAGMENTATION_OF_SWELLING * swelling + jitter
