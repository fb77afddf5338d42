"""Writes the plane of one TPU core: steps, modules, operations."""

from __future__ import annotations

import random
from dataclasses import dataclass

from server.demo import schema
from server.demo.hlo import TPU_V5P, Module, Op
from server.demo.messages import Line, Space
from server.demo.planes import PlaneWriter

CORES = 4
"""TPU cores per host."""
EVAL_EVERY = 10
"""An evaluation follows every tenth step."""

_FIRST_STEP_PS = 5_000_000_000
_GAP_PS = 200_000_000
"""Idle time of an ordinary step."""
_INPUT_STALL_PS = 9_000_000_000
_INPUT_STALL_EVERY = 17
"""Every so many steps the device waits for input, up to the stall's length."""
_BETWEEN_OPS_PS = 60_000
_LOOP_ENTRY_PS = 500_000
_LOOP_EXIT_PS = 200_000
_ASYNC_STRETCH = 1.6
_JITTER = 0.12
_JITTER_BOUNDS = (0.6, 3.0)
_READ_SHARE = 0.7
"""Share of an operation's memory traffic that is reading."""


@dataclass(frozen=True)
class Step:
    """One training step on one core, in picoseconds from the start of the profile."""

    number: int
    begin_ps: int
    end_ps: int


@dataclass(frozen=True)
class HostPlan:
    """What one host's file will hold.

    Attributes:
        name: host name.
        index: position among the hosts, from 0.
        steps: training steps.
        slowdown: factor on every operation's duration.
        seed: makes jitter differ between hosts and sessions.
        train: program of a step.
        evaluate: program that runs after every tenth step.
    """

    name: str
    index: int
    steps: int
    slowdown: float
    seed: int
    train: Module
    evaluate: Module

    @property
    def modules(self) -> tuple[Module, Module]:
        """Both programs."""
        return (self.train, self.evaluate)

    def random(self, part: str) -> random.Random:
        """Random numbers for one part of the host's file."""
        return random.Random(f"{self.seed}/{self.index}/{part}")  # noqa: S311 - not for secrets


def write_core(space: Space, plan: HostPlan, core: int) -> list[Step]:
    """Adds the plane of one core; returns its steps."""
    return _CoreWriter(space, plan, core).write()


class _CoreWriter:
    def __init__(self, space: Space, plan: HostPlan, core: int) -> None:
        self._plan = plan
        self._core = core
        self._random = plan.random(f"core{core}")
        self._writer = PlaneWriter(space, 2 + core, f"/device:TPU:{core}")
        self._kinds: dict[tuple[int, int], int] = {}
        self._write_capabilities()
        for module in plan.modules:
            self._write_op_kinds(module)
        self._steps = self._writer.add_line(1, "Steps")
        self._modules = self._writer.add_line(2, "XLA Modules")
        self._ops = self._writer.add_line(3, "XLA Ops")
        self._async_ops = self._writer.add_line(4, "Async XLA Ops")

    def write(self) -> list[Step]:
        steps = []
        now = _FIRST_STEP_PS
        for number in range(self._plan.steps):
            step = self._write_step(number, now)
            steps.append(step)
            now = step.end_ps
        return steps

    def _write_step(self, number: int, begin_ps: int) -> Step:
        gap = _GAP_PS
        if number % _INPUT_STALL_EVERY == _INPUT_STALL_EVERY - 1:
            gap += int(_INPUT_STALL_PS * self._random.random())
        now = self._run_module(self._plan.train, begin_ps + gap // 2, run_id=100 + number)
        if number % EVAL_EVERY == EVAL_EVERY - 1:
            now = self._run_module(self._plan.evaluate, now + 1_000_000, run_id=100_000 + number)
        now += gap // 2
        kind = self._writer.event_kind(str(number), key=("step", number)).id
        self._writer.add_device_event(self._steps, kind, begin_ps, now - begin_ps)
        return Step(number, begin_ps, now)

    def _run_module(self, module: Module, begin_ps: int, run_id: int) -> int:
        """Writes one execution of a program; returns its end."""
        end_ps = self._run_ops(module, module.sequence, begin_ps)
        kind = self._writer.event_kind(module.full_name).id
        event = self._writer.add_device_event(self._modules, kind, begin_ps, end_ps - begin_ps)
        self._writer.add_stat(event, "run_id", run_id)
        self._writer.add_stat(event, "device_ordinal", self._core)
        return end_ps

    def _run_ops(self, module: Module, ops: tuple[Op, ...], begin_ps: int) -> int:
        now = begin_ps
        for op in ops:
            if op.children:
                now = self._run_loop(module, op, now)
                continue
            duration = int(op.duration_ps * self._jitter() * self._plan.slowdown)
            self._add_op(self._ops, module, op, now, duration)
            if op.is_async:
                self._add_op(self._async_ops, module, op, now, int(duration * _ASYNC_STRETCH))
            now += duration + _BETWEEN_OPS_PS
        return now

    def _run_loop(self, module: Module, op: Op, begin_ps: int) -> int:
        # The loop's event comes before those of its body, so its length is filled in afterwards.
        self._add_op(self._ops, module, op, begin_ps, 0)
        event = self._ops.events[-1]
        now = begin_ps + _LOOP_ENTRY_PS
        for _ in range(op.trips):
            now = self._run_ops(module, op.children, now)
        now += _LOOP_EXIT_PS
        event.duration_ps = event.stats[1].uint64_value = now - begin_ps
        return now

    def _add_op(self, line: Line, module: Module, op: Op, begin_ps: int, duration_ps: int) -> None:
        kind = self._kinds[module.program_id, op.index]
        self._writer.add_device_event(line, kind, begin_ps, duration_ps)

    def _jitter(self) -> float:
        low, high = _JITTER_BOUNDS
        return min(max(self._random.lognormvariate(0, _JITTER), low), high)

    def _write_capabilities(self) -> None:
        add = self._writer.add_stat
        plane = self._writer.plane
        add(plane, "device_type_string", TPU_V5P.name)
        add(plane, "peak_teraflops_per_second", TPU_V5P.teraflops)
        add(plane, "peak_hbm_bw_gigabytes_per_second", TPU_V5P.hbm_gigabytes_per_second)
        for memory in ("sram", "cmem"):
            add(plane, f"peak_{memory}_rd_bw_gigabytes_per_second", 0.0)
            add(plane, f"peak_{memory}_wr_bw_gigabytes_per_second", 0.0)
        for direction in ("rd", "wr"):
            name = f"peak_vmem_{direction}_bw_gigabytes_per_second"
            add(plane, name, TPU_V5P.vmem_gigabytes_per_second)
        add(plane, "has_megacore", True)
        add(plane, "has_merged_vmem", True)
        add(plane, "memory_size", TPU_V5P.memory_bytes)
        add(plane, "core_details", self._core_details())

    def _core_details(self) -> bytes:
        details = schema.new_core_details()
        details.hostname = self._plan.name
        details.device_ordinal = self._core
        details.core_num = 0
        details.local_chip_id = self._core
        details.global_chip_id = self._plan.index * CORES + self._core
        details.global_core_id = details.global_chip_id
        return details.SerializeToString(deterministic=True)

    def _write_op_kinds(self, module: Module) -> None:
        for op in module.ops:
            kind = self._writer.event_kind(op.text, op.name, key=(module.program_id, op.index))
            self._kinds[module.program_id, op.index] = kind.id
            for name, text in (
                ("hlo_category", op.category),
                ("tf_op", op.framework_op),
                ("source", op.source),
                ("deduplicated_name", op.deduplicated_name),
            ):
                if text:
                    self._writer.add_reference(kind, name, text)
            for name, number in (
                ("flops", op.flops),
                ("model_flops", op.flops),
                ("bytes_accessed", op.bytes_accessed),
                ("raw_bytes_accessed", op.bytes_accessed),
                ("program_id", module.program_id),
                ("symbol_id", 1 + op.index),
            ):
                self._writer.add_stat(kind, name, number)
            self._writer.add_stat(kind, "memory_access_breakdown", _memory_accesses(op))


def _memory_accesses(op: Op) -> bytes:
    read = int(op.bytes_accessed * _READ_SHARE)
    breakdown = schema.new_memory_access_breakdown()
    breakdown.memory_accessed.add(operation_type=1, memory_space=1, bytes_accessed=read)
    breakdown.memory_accessed.add(
        operation_type=2, memory_space=1, bytes_accessed=op.bytes_accessed - read
    )
    return breakdown.SerializeToString(deterministic=True)
