"""Writes the plane of a host's threads: Python, the TPU runtime with its allocator, the input pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from server.demo.allocations import AllocationsWriter
from server.demo.device import CORES, EVAL_EVERY, HostPlan, Step
from server.demo.hlo import TPU_V5P
from server.demo.messages import Space
from server.demo.planes import PlaneWriter

_FRAMES = (
    "cache_miss",
    "fn",
    "_python_pjit_helper",
    "__call__",
    "wrapper",
    "reraise",
    "bind",
    "device_put",
    "flatten",
    "unflatten",
    "block_until_ready",
    "isinstance",
    "append",
    "shard_args",
)
_PYTHON_FRAMES = tuple(f"$api.py:{13 * line} {name}" for line, name in enumerate(_FRAMES))
_RUNTIME_CALLS = ("DoEnqueueProgram", "PjRtBuffer::Await", "TransferH2DRequest")
_INPUT_STAGES = (
    "Iterator::Prefetch",
    "Iterator::Prefetch::Map",
    "Iterator::Prefetch::Map::ParallelBatch",
    "Iterator::Root",
)
_STACK_DEPTH = 3
_PYTHON_SHARE = 0.7
_RUNTIME_SHARE = 0.15
_ALLOCATOR_SHARE = 0.5
"""Share of the runtime's events that are allocations and their releases."""
_FEWEST_EVENTS_PER_STEP = 4


def write_threads(space: Space, plan: HostPlan, steps: Sequence[Step], events: int) -> None:
    """Adds the host plane with about `events` events, spread over the steps."""
    _ThreadsWriter(space, plan, max(_FEWEST_EVENTS_PER_STEP, events // len(steps))).write(steps)


class _ThreadsWriter:
    def __init__(self, space: Space, plan: HostPlan, events_per_step: int) -> None:
        self._writer = PlaneWriter(space, 1, "/host:CPU")
        self._plan = plan
        self._writer.add_stat(self._writer.plane, "process_id", 1000 + plan.index)
        self._python = self._writer.add_line(100 + plan.index, "python")
        self._runtime = self._writer.add_line(2000 + plan.index, "tf_XLATpuClient")
        self._allocator = self._writer.add_line(2500 + plan.index, "tf_allocator")
        self._input = self._writer.add_line(3000 + plan.index, "tf_data_private_threadpool")
        self._python_events = int(events_per_step * _PYTHON_SHARE)
        self._runtime_events = int(events_per_step * _RUNTIME_SHARE)
        self._input_events = max(
            1, events_per_step - self._python_events - self._runtime_events - 2
        )
        self._allocations = AllocationsWriter(self._writer, self._allocator, plan)

    def write(self, steps: Sequence[Step]) -> None:
        self._write_counters(steps)
        for step in steps:
            self._write_python(step)
            self._write_runtime(step)
            self._write_input(step)

    def _write_counters(self, steps: Sequence[Step]) -> None:
        """What the chip's performance counters would say of one core, in percent of its peaks."""
        evaluations = sum(step.number % EVAL_EVERY == EVAL_EVERY - 1 for step in steps)
        train, evaluate = self._plan.modules
        flops = len(steps) * train.flops_per_execution + evaluations * evaluate.flops_per_execution
        moved = len(steps) * train.bytes_per_execution + evaluations * evaluate.bytes_per_execution
        seconds = (steps[-1].end_ps - steps[0].begin_ps) / 1e12
        busy = 100 * flops / (TPU_V5P.teraflops * 1e12 * seconds)
        traffic = 100 * moved / (TPU_V5P.hbm_gigabytes_per_second * 1e9 * seconds)
        self._writer.add_stat(self._writer.plane, "matrix_unit_utilization_percent", busy)
        self._writer.add_stat(self._writer.plane, "hbm_utilization_percent", traffic)

    def _write_python(self, step: Step) -> None:
        """The step's annotation and, inside it, call stacks of three frames each."""
        length = step.end_ps - step.begin_ps
        event = self._writer.add_event(self._python, "train", step.begin_ps, length)
        self._writer.add_stat(event, "_r", 1)
        self._writer.add_stat(event, "step_num", step.number)
        width = max(1, length // (self._python_events + 2))
        begin = step.begin_ps + width // 2
        for stack in range(self._python_events // _STACK_DEPTH):
            for depth in range(_STACK_DEPTH):
                frame = (stack * _STACK_DEPTH + depth + step.number) % len(_PYTHON_FRAMES)
                self._writer.add_event(
                    self._python,
                    _PYTHON_FRAMES[frame],
                    begin + depth * width // 8,
                    max(1, width * 13 // 5 - depth * width // 3),
                )
            begin += _STACK_DEPTH * width

    def _write_runtime(self, step: Step) -> None:
        """Enqueues the program, then waits and transfers in the step's first third; allocations all along."""
        third = (step.end_ps - step.begin_ps) // 3
        name = "tpu::System::Execute"
        event = self._writer.add_event(self._runtime, name, step.begin_ps + 1000, third)
        self._writer.add_stat(event, "run_id", 100 + step.number)
        pairs = max(1, int(self._runtime_events * _ALLOCATOR_SHARE) // 2)
        calls = max(1, self._runtime_events - 2 * pairs)
        width = max(1, third // (calls + 1))
        for number in range(calls):
            call = _RUNTIME_CALLS[number % len(_RUNTIME_CALLS)]
            begin = step.begin_ps + 2000 + number * width
            event = self._writer.add_event(self._runtime, call, begin, width // 2)
            self._writer.add_stat(event, "device_ordinal", number % CORES)
        self._allocations.write(step, pairs)

    def _write_input(self, step: Step) -> None:
        width = max(1, (step.end_ps - step.begin_ps) // (self._input_events + 1))
        for number in range(self._input_events):
            stage = _INPUT_STAGES[number % len(_INPUT_STAGES)]
            begin = step.begin_ps + number * width
            event = self._writer.add_event(self._input, stage, begin, width // 2)
            self._writer.add_stat(event, "step_num", step.number)
