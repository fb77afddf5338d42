"""The demo's two programs: their HLO, and how long each of their operations takes on the demo's chip.

The HLO ships with the package (`data/README.md`). Durations follow a roofline: an operation takes as long
as its arithmetic or its memory traffic needs at a fraction of the chip's peak, plus a start-up cost.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files

from server.demo import schema
from server.demo.messages import Computation, Instruction, Shape


@dataclass(frozen=True)
class Chip:
    """A TPU's published peaks.

    Attributes:
        name: as XProf shows it.
        teraflops: 10^12 operations per second (bf16).
        hbm_gigabytes_per_second: 10^9 bytes per second.
        vmem_gigabytes_per_second: 10^9 bytes per second.
        memory_bytes: HBM of one chip.
    """

    name: str
    teraflops: float
    hbm_gigabytes_per_second: float
    vmem_gigabytes_per_second: float
    memory_bytes: int


TPU_V5P = Chip("TPU v5p", 459.0, 2765.0, 22000.0, 95 << 30)
COMPUTE_EFFICIENCY = 0.4
MEMORY_EFFICIENCY = 0.6

TRAIN_STEP = "jit_train_step"
EVAL_STEP = "jit_eval_step"
_PROGRAM_IDS = {TRAIN_STEP: 0x51A7_0000_01EEF, EVAL_STEP: 0x51A7_0000_03DDE}
"""Large numbers, as fingerprints on real devices are."""
_LOOP_TRIPS = 6
"""Times that the `while` of the eval step runs: once per layer of the model."""

_OP_START_PS = 400_000
_ALL_REDUCE_START_PS = 5_000_000
_ALL_REDUCE_SLOWDOWN = 12
"""The interconnect's bandwidth is this many times lower than the memory's."""
_WHILE_START_PS = 1_000_000
_LONGEST_TEXT = 1500
_NOT_EXECUTED = frozenset(
    {
        "after-all",
        "bitcast",
        "constant",
        "get-tuple-element",
        "parameter",
        "partition-id",
        "replica-id",
        "tuple",
    }
)
# XLA's PrimitiveType numbers: name and bytes of an element.
_ELEMENTS = {
    1: ("pred", 1),
    2: ("s8", 1),
    3: ("s16", 2),
    4: ("s32", 4),
    5: ("s64", 8),
    6: ("u8", 1),
    7: ("u16", 2),
    8: ("u32", 4),
    9: ("u64", 8),
    10: ("f16", 2),
    11: ("f32", 4),
    12: ("f64", 8),
    16: ("bf16", 2),
}
_UNKNOWN_ELEMENT = ("f32", 4)


@dataclass(frozen=True)
class Op:
    """One operation as a device executes it.

    Attributes:
        index: position among the module's operations; with the module it identifies the operation.
        name: HLO name, e.g. `fusion.12`.
        text: HLO text, cut to a readable length.
        category: XProf's `hlo_category`.
        flops: floating point operations.
        bytes_accessed: bytes read and written.
        framework_op: name in the user's program, `op_name:op_type`.
        source: `file:line` in the user's program.
        duration_ps: undisturbed duration, children not included.
        is_async: shown on the line of asynchronous operations too.
        children: operations of the loop body, in order; the body runs `trips` times.
        trips: 1 except for loops.
    """

    index: int
    name: str
    text: str
    category: str
    flops: int
    bytes_accessed: int
    framework_op: str
    source: str
    duration_ps: int
    is_async: bool
    children: tuple[Op, ...] = ()
    trips: int = 1

    @property
    def deduplicated_name(self) -> str:
        """The name without its running number; empty when it has none."""
        stem, _, number = self.name.rpartition(".")
        return stem if number.isdigit() else ""


@dataclass(frozen=True)
class Module:
    """One compiled program.

    Attributes:
        name: e.g. `jit_train_step`.
        program_id: XProf's id of the program.
        proto: bytes of its HloProto.
        sequence: operations of one execution, in order.
        ops: all operations, each once, by index.
    """

    name: str
    program_id: int
    proto: bytes = field(repr=False)
    sequence: tuple[Op, ...] = field(repr=False)
    ops: tuple[Op, ...] = field(repr=False)

    @property
    def full_name(self) -> str:
        """Name with program id, as XProf shows it."""
        return f"{self.name}({self.program_id})"

    @cached_property
    def events_per_execution(self) -> int:
        """Events on the operations' line for one execution."""
        return _count(self.sequence)

    @cached_property
    def flops_per_execution(self) -> int:
        """Floating point operations of one execution on one core."""
        return sum(op.flops for op in _executed(self.sequence))

    @cached_property
    def bytes_per_execution(self) -> int:
        """Bytes that one execution on one core reads and writes."""
        return sum(op.bytes_accessed for op in _executed(self.sequence))

    @cached_property
    def async_events_per_execution(self) -> int:
        """Events on the line of asynchronous operations for one execution (outside loops)."""
        return sum(op.is_async for op in self.sequence)


def _count(ops: tuple[Op, ...]) -> int:
    return sum(1 + op.trips * _count(op.children) for op in ops)


def _executed(ops: tuple[Op, ...]) -> Iterator[Op]:
    """The operations of one execution as often as they run; loops only by what is in them."""
    for op in ops:
        if not op.children:
            yield op
        for _ in range(op.trips if op.children else 0):
            yield from _executed(op.children)


def load_module(name: str, chip: Chip = TPU_V5P) -> Module:
    """One of the demo's programs (`TRAIN_STEP` or `EVAL_STEP`) on a chip."""
    packed = files("server.demo").joinpath("data", f"{name}.hlo_proto.pb.gz").read_bytes()
    proto = gzip.decompress(packed)
    builder = _TimelineBuilder(proto, chip)
    sequence = tuple(builder.walk(builder.entry))
    return Module(name, _PROGRAM_IDS[name], proto, sequence, tuple(builder.ops))


def _shape_bytes(shape: Shape) -> int:
    if shape.tuple_shapes:
        return sum(_shape_bytes(part) for part in shape.tuple_shapes)
    _, size = _ELEMENTS.get(shape.element_type, _UNKNOWN_ELEMENT)
    return size * math.prod(shape.dimensions)


def _shape_text(shape: Shape) -> str:
    if shape.tuple_shapes:
        return "(" + ", ".join(_shape_text(part) for part in shape.tuple_shapes) + ")"
    name, _ = _ELEMENTS.get(shape.element_type, _UNKNOWN_ELEMENT)
    return f"{name}[{','.join(str(size) for size in shape.dimensions)}]"


class _TimelineBuilder:
    """Turns a module's HLO into operations with durations."""

    def __init__(self, proto: bytes, chip: Chip) -> None:
        module = schema.parse_hlo(proto).hlo_module
        self._computations = {computation.id: computation for computation in module.computations}
        self.entry = self._computations[module.entry_computation_id]
        self.ops: list[Op] = []
        self._flops_per_ps = chip.teraflops * COMPUTE_EFFICIENCY
        self._bytes_per_ps = chip.hbm_gigabytes_per_second * MEMORY_EFFICIENCY / 1000

    def walk(self, computation: Computation) -> Iterator[Op]:
        """The operations of a computation in order; `call` is replaced by what it calls."""
        neighbours = {instruction.id: instruction for instruction in computation.instructions}
        for instruction in computation.instructions:
            if instruction.opcode == "call":
                for called in instruction.called_computation_ids:
                    yield from self.walk(self._computations[called])
            elif instruction.opcode not in _NOT_EXECUTED:
                yield self._op(instruction, neighbours)

    def _op(self, instruction: Instruction, neighbours: dict[int, Instruction]) -> Op:
        operands = [
            neighbours[number] for number in instruction.operand_ids if number in neighbours
        ]
        traffic = _shape_bytes(instruction.shape) + sum(
            _shape_bytes(operand.shape) for operand in operands
        )
        flops = self._flops(instruction, neighbours)
        index = len(self.ops)
        body: tuple[Op, ...] = ()
        if instruction.opcode == "while":
            body = tuple(self.walk(self._loop_body(instruction)))
            index = len(self.ops)
        metadata = instruction.metadata
        op = Op(
            index=index,
            name=instruction.name,
            text=_hlo_text(instruction, operands),
            category=_category(instruction, flops, traffic),
            flops=flops,
            bytes_accessed=traffic,
            framework_op=(
                f"{metadata.op_name or instruction.name}:{metadata.op_type or instruction.opcode}"
            ),
            source=_source(instruction, index),
            duration_ps=self._duration(instruction.opcode, flops, traffic),
            is_async=instruction.opcode.endswith(("-start", "-done"))
            or instruction.opcode in ("all-reduce", "copy"),
            children=body,
            trips=_LOOP_TRIPS if body else 1,
        )
        self.ops.append(op)
        return op

    def _duration(self, opcode: str, flops: int, traffic: int) -> int:
        if opcode == "while":
            return _WHILE_START_PS
        memory_ps = traffic / self._bytes_per_ps
        if opcode == "all-reduce":
            return int(memory_ps * _ALL_REDUCE_SLOWDOWN) + _ALL_REDUCE_START_PS
        return int(max(flops / self._flops_per_ps, memory_ps)) + _OP_START_PS

    def _flops(self, instruction: Instruction, neighbours: dict[int, Instruction]) -> int:
        """Operations of an instruction: two per multiply-add of a dot, one per element otherwise."""
        elements = _shape_bytes(instruction.shape) // 4
        if instruction.opcode in ("dot", "convolution"):
            left = neighbours.get(next(iter(instruction.operand_ids), -1))
            contracted = left.shape.dimensions[-1] if left and left.shape.dimensions else 1
            return 2 * elements * contracted
        if instruction.opcode == "fusion":
            return elements + sum(
                self._dot_flops(called) for called in instruction.called_computation_ids
            )
        return elements

    def _dot_flops(self, computation_id: int) -> int:
        """Operations of all dots in a computation and those that it calls."""
        computation = self._computations[computation_id]
        neighbours = {instruction.id: instruction for instruction in computation.instructions}
        total = 0
        for instruction in computation.instructions:
            if instruction.opcode in ("dot", "convolution", "fusion", "custom-call"):
                total += self._flops(instruction, neighbours)
            elif instruction.opcode == "call":
                total += sum(map(self._dot_flops, instruction.called_computation_ids))
        return total

    def _loop_body(self, instruction: Instruction) -> Computation:
        """The larger of a loop's two computations: the other one is its condition."""
        called = [self._computations[number] for number in instruction.called_computation_ids]
        return max(called, key=lambda computation: len(computation.instructions))


def _hlo_text(instruction: Instruction, operands: list[Instruction]) -> str:
    inputs = ", ".join(f"{_shape_text(operand.shape)} %{operand.name}" for operand in operands)
    text = f"%{instruction.name} = {_shape_text(instruction.shape)} {instruction.opcode}({inputs})"
    return text[:_LONGEST_TEXT]


def _category(instruction: Instruction, flops: int, traffic: int) -> str:
    if instruction.opcode == "dot":
        return "convolution"
    if instruction.opcode != "fusion":
        return instruction.opcode
    if flops > 1.5 * traffic:
        return "convolution fusion"
    return "input fusion" if "reduce" in instruction.name else "loop fusion"


def _source(instruction: Instruction, index: int) -> str:
    metadata = instruction.metadata
    file = metadata.source_file or "/usr/train/model.py"
    return f"{file}:{metadata.source_line or 17 + index % 400}"
