"""Which tools have nothing to show, by what the hosts' profiles hold."""

from __future__ import annotations

import pytest

from server.sessions.schemas import HostContents, HostHealth
from server.xprof.tool_fitness import TITLES, unfit_tools

NOTHING = HostContents(
    tpu_planes=0,
    gpu_planes=0,
    device_events=0,
    hlo_modules=0,
    memory_events=False,
    host_ops=False,
    hardware_counters=False,
    megascale_events=False,
)
TPU = NOTHING.model_copy(update={"tpu_planes": 4, "device_events": 1000, "hlo_modules": 2})
GPU = NOTHING.model_copy(update={"gpu_planes": 2, "device_events": 1000, "hlo_modules": 1})
CPU = NOTHING.model_copy(update={"hlo_modules": 7})
DEVICE_TOOLS = {"op_profile", "hlo_stats", "roofline_model"}
RARE = {"megascale_stats", "perf_counters"}


def row(contents: HostContents | None, usable: bool = True) -> HostHealth:
    return HostHealth(host="a", file="a.xplane.pb", size=1, usable=usable, contents=contents)


def unfit(*hosts: HostContents | None) -> dict[str, str]:
    notes = unfit_tools([row(contents) for contents in hosts])
    assert all(note.title == TITLES[note.tool] for note in notes)
    return {note.tool: note.reason for note in notes}


def test_a_profile_of_a_cpu_has_nothing_for_the_tools_of_devices() -> None:
    reasons = unfit(CPU)
    assert set(reasons) == {
        *DEVICE_TOOLS,
        "framework_op_stats",
        "kernel_stats",
        "memory_profile",
        *RARE,
    }
    assert "captured on a CPU only" in reasons["hlo_stats"]
    assert "machine with a GPU" in reasons["kernel_stats"]
    assert "host_tracer_level" in reasons["memory_profile"]


def test_operations_of_a_framework_on_the_host_are_a_reason_to_say_nothing() -> None:
    assert "framework_op_stats" not in unfit(CPU.model_copy(update={"host_ops": True}))


def test_a_tpu_has_no_kernels_and_is_told_where_to_look_instead() -> None:
    reasons = unfit(TPU)
    assert set(reasons) == {"kernel_stats", "memory_profile", *RARE}
    assert "HLO Op Stats" in reasons["kernel_stats"]


def test_a_gpu_has_kernels() -> None:
    assert set(unfit(GPU)) == {"memory_profile", *RARE}


def test_devices_that_did_nothing_are_named() -> None:
    reasons = unfit(TPU.model_copy(update={"device_events": 0}))
    assert set(reasons) >= {*DEVICE_TOOLS, "framework_op_stats"}
    assert "The TPUs of this profile recorded no work" in reasons["hlo_stats"]
    idle = unfit(GPU.model_copy(update={"device_events": 0}))
    assert "The GPUs of this profile recorded no work" in idle["kernel_stats"]


def test_without_hlo_there_are_no_graphs() -> None:
    reasons = unfit(TPU.model_copy(update={"hlo_modules": 0}))
    assert {"memory_viewer", "graph_viewer"} <= set(reasons)
    assert "enable_hlo_proto" in reasons["graph_viewer"]


@pytest.mark.parametrize(
    ("tool", "fact"),
    [
        ("memory_profile", "memory_events"),
        ("megascale_stats", "megascale_events"),
        ("perf_counters", "hardware_counters"),
    ],
)
def test_what_may_be_there_is_not_denied(tool: str, fact: str) -> None:
    assert tool in unfit(TPU)
    assert tool not in unfit(TPU.model_copy(update={fact: True}))


def test_one_host_that_has_something_is_enough() -> None:
    assert set(unfit(CPU, TPU)) == set(unfit(TPU))


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert unfit_tools([]) == ()
    assert unfit_tools([row(None, usable=False)]) == ()
    assert unfit(CPU, None) == {}


def test_a_host_that_cannot_be_shown_does_not_count() -> None:
    notes = unfit_tools([row(CPU), row(None, usable=False)])
    assert "hlo_stats" in {note.tool for note in notes}


def test_every_reason_is_a_whole_sentence() -> None:
    for reason in [*unfit(NOTHING).values(), *unfit(TPU).values()]:
        assert reason[0].isupper()
        assert reason.endswith(".")
        assert "No data" not in reason
