"""XProf reads the demo's session, and its figures follow from the events that were written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from server.demo import schema
from server.demo.session import write_session

TABLES = """
import json, sys
from xprof.convert import raw_to_tool_data
tool, *paths = sys.argv[1:]
options = {"use_saved_result": False, "hosts": [], "graph_viewer_options": {}}
data, _ = raw_to_tool_data.xspace_to_tool_data(paths, tool, options)
print(data if isinstance(data, str) else data.decode())
"""

Table = dict[str, Any]


def tables(paths: list[Path], tool: str) -> list[Table]:
    """XProf's tables for a tool, made in a process of its own."""
    command = [sys.executable, "-c", TABLES, tool, *map(str, paths)]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found: list[Table] = json.loads(result.stdout)
    return found


def overview_properties(paths: list[Path]) -> dict[str, str]:
    """All properties of XProf's overview."""
    properties: dict[str, str] = {}
    for table in tables(paths, "overview_page"):
        properties.update(table.get("p") or {})
    return properties


def slowest_core_of_each_step(paths: list[Path]) -> list[float]:
    """Milliseconds of each step on its slowest core: XProf's step time."""
    cores = [
        [event.duration_ps / 1e9 for event in line.events]
        for path in paths
        for plane in schema.parse_space(path.read_bytes()).planes
        for line in plane.lines
        if line.name == "Steps"
    ]
    return [max(durations) for durations in zip(*cores, strict=True)]


@pytest.mark.parametrize(("hosts", "events"), [(1, 20_000), (3, 40_000)])
def test_overview_counts_hosts_and_times_steps(tmp_path: Path, hosts: int, events: int) -> None:
    paths = write_session(tmp_path / "session", hosts=hosts, events=events)
    steps = slowest_core_of_each_step(paths)
    properties = overview_properties(paths)
    assert properties["host_count"] == str(hosts)
    assert properties["device_core_count"] == str(4 * hosts)
    assert properties["device_type"] == "TPU v5p"
    # XProf rounds to two digits after the point.
    assert float(properties["steptime_ms_average"]) == pytest.approx(mean(steps), abs=0.0051)
    assert float(properties["steptime_ms_maximum"]) == pytest.approx(max(steps), abs=0.0051)
    assert float(properties["steptime_ms_minimum"]) == pytest.approx(min(steps), abs=0.0051)


def test_utilization_on_the_overview_is_that_of_the_roofline(tmp_path: Path) -> None:
    paths = write_session(tmp_path / "session", hosts=1, events=20_000)
    roofline, *_ = tables(paths, "roofline_model")
    columns = [column["id"] for column in roofline["cols"]]
    whole = {
        name: cell.get("v") for name, cell in zip(columns, roofline["rows"][0]["c"], strict=True)
    }
    assert whole["operation"] == "Program"
    properties = overview_properties(paths)
    # The counters are those of one core, and the roofline is over all four.
    memory = float(properties["hbm_utilization_percent"].rstrip("%"))
    assert memory == pytest.approx(100 * whole["max_mem_bw_utilization"], rel=0.05)
    compute = float(properties["mxu_utilization_percent"].rstrip("%"))
    assert compute == pytest.approx(100 * whole["compute_efficiency"], rel=0.05)


def test_memory_profile_accounts_for_every_byte_of_the_peak(tmp_path: Path) -> None:
    paths = write_session(tmp_path / "session", hosts=1, events=20_000)
    profile: Any = tables(paths, "memory_profile")
    (allocator,) = profile["memoryProfilePerAllocator"].values()
    summary, peak = allocator["profileSummary"], allocator["profileSummary"]["peakStats"]
    gibibyte = 1 << 30
    assert int(summary["memoryCapacity"]) == 95 * gibibyte  # a TPU v5p's
    assert int(peak["stackReservedBytes"]) == 1 * gibibyte
    # What was there before the profile began, and what the step at the peak keeps.
    kept = [
        int(allocator["memoryProfileSnapshots"][index]["activityMetadata"]["allocationBytes"])
        for index in (int(one["snapshotIndex"]) for one in allocator["activeAllocations"])
        if index >= 0
    ]
    assert int(peak["heapAllocatedBytes"]) == 24 * gibibyte + sum(kept)
    (before, _) = allocator["specialAllocations"]
    assert int(before["allocationBytes"]) == 24 * gibibyte
    # Every step lets go of all that it kept, and the last one is that of the profile's last step.
    events = allocator["sampledTimelineSnapshots"]
    kinds = [event["activityMetadata"]["memoryActivity"] for event in events]
    assert kinds.count("ALLOCATION") == kinds.count("DEALLOCATION") > 100
    assert int(events[-1]["aggregationStats"]["heapAllocatedBytes"]) == 24 * gibibyte
    steps = len(slowest_core_of_each_step(paths))
    assert int(events[-1]["activityMetadata"]["stepId"]) == steps - 1
