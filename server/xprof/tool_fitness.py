"""Which of XProf's tools have nothing to show for a session, why, and what helps.

Concluded from what the inspection found in the hosts' profiles, before any tool is run. A tool counts as
unfit only when that is certain: one that may show something, if only for one host, is left alone, and so are
tools whose needs aren't known here. Facts: xprof 2.24.2 (tests/integration/test_unfit_tools.py asks it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from server.sessions.schemas import HostContents, HostHealth, ToolNote

TITLES = {
    "op_profile": "HLO Op Profile",
    "hlo_stats": "HLO Op Stats",
    "roofline_model": "Roofline Model",
    "framework_op_stats": "Framework Op Stats",
    "kernel_stats": "Kernel Stats",
    "memory_profile": "Memory Profile",
    "memory_viewer": "Memory Viewer",
    "graph_viewer": "Graph Viewer",
    "megascale_stats": "Megascale Viewer",
    "perf_counters": "Perf Counters",
}
"""The tools whose needs are known, in the order in which they are named, with the names of XProf's menu."""

_OF_DEVICES = ("op_profile", "hlo_stats", "roofline_model")
_OF_MODULES = ("memory_viewer", "graph_viewer")

_CPU_ONLY = (
    "This profile was captured on a CPU only, and the tool shows what TPUs and GPUs do. "
    "Capture on a machine with a TPU or GPU."
)
_IDLE = (
    "The {devices} of this profile recorded no work. Capture again while steps are running, "
    "and for long enough to see a few of them."
)
_NO_HLO = (
    "No HLO was recorded with this profile. Capture while the program runs, "
    "with enable_hlo_proto on in the profiler's options."
)
_NO_MEMORY = (
    "No allocations of memory were recorded. TPUs and GPUs record them when the profiler's option "
    "host_tracer_level is 2 or more."
)
_NO_GPU = "This profile has no GPU, and the tool shows kernels of GPUs only. "
_NO_MEGASCALE = (
    "No transfers between TPU slices were recorded: the tool needs a job on several slices."
)
_NO_COUNTERS = (
    "No hardware counters were recorded: the tool needs a TPU whose profiler samples them."
)


@dataclass(frozen=True)
class _Session:
    """What all hosts of a session hold together."""

    has_tpu: bool
    has_gpu: bool
    has_work: bool
    has_hlo: bool
    has_memory: bool
    has_host_ops: bool
    has_counters: bool
    has_megascale: bool


def unfit_tools(hosts: Sequence[HostHealth]) -> tuple[ToolNote, ...]:
    """The tools that have nothing to show, with reasons; empty as long as a host's contents aren't known.

    Args:
        hosts: what the inspection says of each host; those that can't be shown don't count.
    """
    contents = [host.contents for host in hosts if host.usable]
    known = [found for found in contents if found is not None]
    if not known or len(known) < len(contents):
        return ()
    reasons = _reasons(_together(known))
    return tuple(
        ToolNote(tool=tool, title=title, reason=reasons[tool])
        for tool, title in TITLES.items()
        if tool in reasons
    )


def _together(hosts: Iterable[HostContents]) -> _Session:
    """What there is on any host."""
    found = tuple(hosts)
    return _Session(
        has_tpu=any(host.tpu_planes for host in found),
        has_gpu=any(host.gpu_planes for host in found),
        has_work=any(host.device_events for host in found),
        has_hlo=any(host.hlo_modules for host in found),
        has_memory=any(host.memory_events for host in found),
        has_host_ops=any(host.host_ops for host in found),
        has_counters=any(host.hardware_counters for host in found),
        has_megascale=any(host.megascale_events for host in found),
    )


def _reasons(session: _Session) -> dict[str, str]:
    """Why tools have nothing to show, by tool."""
    reasons: dict[str, str] = {}
    if not session.has_work:
        why = _without_work(session)
        reasons |= dict.fromkeys(_OF_DEVICES, why)
        if not session.has_host_ops:
            reasons["framework_op_stats"] = why
    if not session.has_gpu:
        reasons["kernel_stats"] = _NO_GPU + (
            "HLO Op Stats shows the operations of TPUs."
            if session.has_tpu
            else "Capture on a machine with a GPU."
        )
    elif not session.has_work:
        reasons["kernel_stats"] = _without_work(session)
    if not session.has_hlo:
        reasons |= dict.fromkeys(_OF_MODULES, _NO_HLO)
    if not session.has_memory:
        reasons["memory_profile"] = _NO_MEMORY
    if not session.has_megascale:
        reasons["megascale_stats"] = _NO_MEGASCALE
    if not session.has_counters:
        reasons["perf_counters"] = _NO_COUNTERS
    return reasons


def _without_work(session: _Session) -> str:
    """Why no device has done anything."""
    devices = [
        name for name, there in (("TPUs", session.has_tpu), ("GPUs", session.has_gpu)) if there
    ]
    return _IDLE.format(devices=" and ".join(devices)) if devices else _CPU_ONLY
