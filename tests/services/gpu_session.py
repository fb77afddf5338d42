"""A profile of a host with GPUs, as JAX writes it: a program's HLO, and its kernels with launch details."""

from __future__ import annotations

from pathlib import Path

from server.demo import schema
from server.demo.hlo import TRAIN_STEP, Module, Op, load_module
from server.demo.messages import Line, Space
from server.demo.planes import PlaneWriter

_GAP_PS = 1_000_000
_FACTS = {
    "clock_rate": 1_980_000,
    "core_count": 132,
    "memory_bandwidth": 4_800_000_000_000,
    "memory_size": 150_000_000_000,
    "compute_cap_major": 9,
    "compute_cap_minor": 0,
}
_LAUNCH = "regs:32 static_shared:0 dynamic_shared:0 grid:128,1,1 block:256,1,1 occ_pct:50"


def write_gpu_profile(path: Path, devices: int = 2, steps: int = 5) -> None:
    """Writes the profile; every device runs the program so many times, always equally long."""
    module = load_module(TRAIN_STEP)
    space = schema.new_space()
    space.hostnames.append("gpu-host")
    writer = PlaneWriter(space, 0, "/host:metadata")
    program = writer.event_kind(module.full_name)
    writer.add_stat(program, "Hlo Proto", module.proto)
    writer.add_stat(program, "program_id", module.program_id)
    for device in range(devices):
        _write_device(space, device, module, steps)
    path.write_bytes(space.SerializeToString(deterministic=True))


def _write_device(space: Space, device: int, module: Module, steps: int) -> None:
    writer = PlaneWriter(space, 1 + device, f"/device:GPU:{device}")
    for name, value in _FACTS.items():
        writer.add_stat(writer.plane, name, value)
    line = writer.add_line(7, "Stream #7(Compute)")
    now = 0
    for step in range(steps):
        for op in module.sequence:
            _write_kernel(writer, line, module, op, step, now)
            now += op.duration_ps + _GAP_PS


def _write_kernel(
    writer: PlaneWriter, line: Line, module: Module, op: Op, step: int, begin_ps: int
) -> None:
    event = writer.add_event(line, f"kernel_{op.name}", begin_ps, op.duration_ps)
    writer.add_reference(event, "hlo_op", op.name)
    writer.add_reference(event, "hlo_module", module.name)
    writer.add_stat(event, "program_id", module.program_id)
    writer.add_stat(event, "correlation_id", step + 1)
    writer.add_reference(event, "kernel_details", _LAUNCH)
    if op.framework_op:
        writer.add_reference(event, "tf_op", op.framework_op)
