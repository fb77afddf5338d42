"""Every tool shows the demo session as XProf's own data has it: figures, rows and marks.

Expected values come from XProf's answer to the same question, put into words here as XProf's page does.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.conftest import MakeViewer
from tests.browser.reading import (
    chart_with,
    charts_on,
    open_tool,
    properties_of,
    rows_of,
    table_with,
    tables_on,
    text_of,
    wait_for_text,
    wait_until,
)

HOST = "t1v-n-3c1f2ab0-w-0"
CHART = "svg[role=img]"
ROWS = "table tbody tr"


def test_overview(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "overview_page", CHART)
    answer: Any = shown.data(tag="overview_page", host="ALL_HOSTS")
    facts = properties_of(answer)
    wait_for_text(
        shown.page,
        f"Average Step Time (\N{GREEK SMALL LETTER SIGMA} = {facts['steptime_ms_standard_deviation']} ms)",
    )
    text = text_of(shown.page)
    for expected in (
        f"lower is better. {facts['steptime_ms_average']} ms",
        f"Utilization of TPU Matrix Units {facts['mxu_utilization_percent']}",
        f"HBM Utilization {facts['hbm_utilization_percent']}",
        f"Host {facts['host_tf_op_percent']} Device {facts['device_tf_op_percent']}",
        f"Number of Hosts used: {facts['host_count']}",
        f"Device type: {facts['device_type']}",
        f"Number of device cores: {facts['device_core_count']}",
    ):
        assert expected in text
    series = set(facts["step_time_graph_column_ids"].split(",")) - {"stepnum", "tooltip"}
    assert chart_with(shown.page, "area")["area"] == len(series)
    assert shown.complaints() == {}


def test_input_pipeline(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "input_pipeline_analyzer", CHART)
    answer: Any = shown.data(tag="input_pipeline_analyzer", host="ALL_HOSTS")
    facts = properties_of(answer)
    wait_for_text(shown.page, "TensorCore idle")
    text = text_of(shown.page)
    assert facts["input_conclusion"] in text
    average, deviation = facts["steptime_ms_average"], facts["steptime_ms_standard_deviation"]
    assert f"Average: {average} ms (\N{GREEK SMALL LETTER SIGMA} = {deviation} ms)" in text
    least, most = facts["steptime_ms_minimum"], facts["steptime_ms_maximum"]
    assert f"Range: {least} - {most} ms" in text
    steps = table_with(shown.page, "Index")
    index = answer[0]
    assert steps.rows == [[str(cell["v"]) for cell in row["c"]] for row in index["rows"]]
    # Step times are five areas here, the breakdown on the host five columns.
    assert chart_with(shown.page, "area")["area"] == 5
    assert chart_with(shown.page, "bar")["bar"] == 5
    assert shown.complaints() == {}


def test_input_pipeline_operations(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "input_pipeline_analyzer", CHART)
    answer: Any = shown.data(tag="input_pipeline_analyzer", host="ALL_HOSTS")
    expected = rows_of(answer[2], "opName", "count", "timeInMs", "category")
    shown.page.get_by_text("Input Op statistics").click()
    shown.page.get_by_role("columnheader", name="Input Op").wait_for()
    table = wait_until(
        shown.page,
        lambda: next(
            (found for found in tables_on(shown.page) if "Input Op" in found.headings), None
        ),
    )
    assert table.column("Input Op") == [row[0] for row in expected]
    assert [table.number("Count", at) for at in range(len(expected))] == [
        row[1] for row in expected
    ]
    for at, row in enumerate(expected):
        assert table.number("Total Time (in ms)", at) == pytest.approx(row[2], abs=0.5)
    assert table.column("Category") == [row[3] for row in expected]


def test_framework_op_stats(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "framework_op_stats", ROWS)
    answer: Any = shown.data(tag="framework_op_stats", host="ALL_HOSTS")
    without_idle = answer[1]
    expected = rows_of(
        without_idle, "host_or_device", "operation", "occurrences", "total_self_time"
    )
    table = table_with(shown.page, "Operation Name")
    assert table.total == len(expected)
    count = min(20, len(table.rows))
    assert table.column("Host/device")[:count] == [row[0] for row in expected[:count]]
    assert table.column("Operation Name")[:count] == [row[1] for row in expected[:count]]
    for at, row in enumerate(expected[:count]):
        assert table.number("#Occurrences", at) == row[2]
        assert table.number("Total self-time (us)", at) == pytest.approx(row[3], abs=0.5)
    kinds: dict[str, float] = {}
    for kind, place, time in rows_of(without_idle, "type", "host_or_device", "total_self_time"):
        if place == "Device":
            kinds[kind] = kinds.get(kind, 0) + time
    by_type = table_with(shown.page, "Total self-time on Device (%)")
    assert "Operation Name" in by_type.headings
    assert chart_with(shown.page, "slice")["slice"] <= len(kinds)
    largest = max(kinds, key=lambda kind: kinds[kind])
    share = kinds[largest] / sum(kinds.values())
    assert f"{100 * share:.1f}%" in text_of(shown.page)
    assert shown.complaints() == {}


def test_op_profile(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "op_profile", "op-table-entry", host=HOST)
    answer: Any = shown.data(tag="op_profile", host=HOST, group_by="program")
    whole = answer["byProgramExcludeIdle"]
    text = text_of(shown.page)
    used = whole["metrics"]["flops"]
    assert f"FLOPS utilization is {100 * used:.2f}%" in text
    assert f"Hbm {100 * whole['metrics']['bandwidthUtils'][0]:.2f}%" in text
    program = whole["children"][0]
    shown.page.get_by_text(program["name"]).first.click()
    for category in program["children"]:
        share = category["metrics"]["rawTime"] / whole["metrics"]["rawTime"]
        entry = shown.page.locator("op-table-entry", has_text=category["name"]).last
        wait_for_text(shown.page, category["name"])
        assert f"{100 * share:.2f}%" in " ".join(entry.inner_text().split())
    assert shown.complaints() == {}


def test_hlo_stats(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "hlo_stats", ROWS, host=HOST)
    answer: Any = shown.data(tag="hlo_stats", host=HOST)
    expected = rows_of(answer, "rank", "hlo_op_name", "total_time", "category", "total_self_time")
    table = table_with(shown.page, "HLO op name")
    assert table.column("HLO op name") == [row[1] for row in expected[: len(table.rows)]]
    assert len(table.rows) == 10
    for at, row in enumerate(expected[:10]):
        assert table.number("Rank", at) == row[0]
        assert table.number("Total time (us)", at) == pytest.approx(row[2], abs=0.0006)
    times: dict[str, float] = {}
    for row in expected:
        times[row[3]] = times.get(row[3], 0) + row[4]
    shares = sorted((time / sum(times.values()) for time in times.values()), reverse=True)
    text = text_of(shown.page)
    for share in shares[:3]:
        assert f"{100 * share:.1f}%" in text
    shown.page.get_by_role("button", name="Next page").click()
    second = wait_until(
        shown.page,
        lambda: (
            table_with(shown.page, "HLO op name")
            if table_with(shown.page, "HLO op name").column("Rank")[0] != "1"
            else None
        ),
    )
    assert second.column("HLO op name") == [row[1] for row in expected[10:20]]
    assert shown.complaints() == {}


def test_roofline(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "roofline_model", ROWS, host=HOST)
    answer: Any = shown.data(tag="roofline_model", host=HOST)
    facts = properties_of(answer)
    columns = ("step", "total_time_per_core", "measured_flop_rate", "bound_by", "category")
    counted = [
        row for row in rows_of(answer[0], *columns, "include_infeed_outfeed", "rank") if row[5]
    ]
    expected = [row for row in counted if row[4] == "Program"]
    table = table_with(shown.page, "Total Time per core (us)")
    assert table.column("Step") == [row[0] for row in expected]
    assert table.column("Bound by") == [row[3] for row in expected]
    for at, row in enumerate(expected):
        assert table.number("Total Time per core (us)", at) == pytest.approx(row[1], abs=0.5)
        rate = table.number("Normalized FLOP Rate (GFLOP/s)", at)
        assert rate == pytest.approx(row[2], abs=0.006)
    # A point for each step, the total and the average; the roof is a line.
    assert chart_with(shown.page, "line", "point")["point"] == len(expected)
    count = len([row for row in counted if row[0] == "Total"])
    # XProf fills the second table a moment after the first.
    wait_until(
        shown.page,
        lambda: (
            any(
                table.total == count
                for table in tables_on(shown.page)
                if "Operation" in table.headings
            )
            or None
        ),
    )
    text = text_of(shown.page)
    assert f"Device Type: {facts['device_type']}" in text
    assert (
        f"Peak FLOP Rate per TensorCore: {float(facts['peak_flop_rate']) / 1000:g} TFLOP/s" in text
    )
    assert f"Peak HBM Bandwidth per TensorCore: {facts['peak_hbm_bw']} GiB/s" in text
    assert shown.complaints() == {}


def test_memory_viewer(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "memory_viewer", CHART, host=HOST)
    module = shown.get("module_list").split(",")[0]
    answer: Any = shown.data(tag="memory_viewer", host=HOST, module_name=module)
    peak = f"{answer['peakHeapMib']:.2f} MiB"
    whole = f"{answer['totalBufferAllocationMib']:.2f} MiB"
    text = text_of(shown.page)
    assert f"Module Name: {module}" in text
    assert f"Peak memory allocation: {peak}, {whole} (with fragmentation)" in text
    assert f"{answer['entryComputationParametersMib']:.2f} MiB total argument size" in text
    # The sizes with and without padding are two lines; the buffers of the peak three rows of columns.
    assert chart_with(shown.page, "line")["line"] == 2
    buffers = [chart["bar"] for chart in charts_on(shown.page) if "bar" in chart]
    assert buffers == [len(answer[name]) for name in ("maxHeap", "maxHeapBySize", "maxHeap")]
    assert shown.complaints() == {}


def test_memory_profile(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "memory_profile", CHART, host=HOST)
    answer: Any = shown.data(tag="memory_profile", host=HOST)
    (allocator,) = answer["memoryIds"]
    snapshots = answer["memoryProfilePerAllocator"][allocator]["sampledTimelineSnapshots"]
    kinds = [snapshot["activityMetadata"]["memoryActivity"] for snapshot in snapshots]
    text = text_of(shown.page)
    assert f"#Allocation {kinds.count('ALLOCATION')}" in text
    assert f"#Deallocation {kinds.count('DEALLOCATION')}" in text
    peak = answer["memoryProfilePerAllocator"][allocator]["profileSummary"]["peakStats"]
    heap, free = (int(peak[name]) / 2**30 for name in ("heapAllocatedBytes", "freeMemoryBytes"))
    assert f"Heap Allocation: {heap:.2f} GiB" in text
    assert f"Free Memory: {free:.2f} GiB" in text
    assert "Memory Capacity 95.00 GiB" in text  # a TPU v5p's
    assert "Steps may be incomplete" not in text
    table = table_with(shown.page, "HLO Module")
    modules = answer["hloModules"]
    assert table.total == len(modules)
    assert table.column("HLO Module") == [module["name"] for module in modules[: len(table.rows)]]
    for at, module in enumerate(modules[: len(table.rows)]):
        start, end = int(module["startTimePs"]), int(module["endTimePs"])
        assert table.number("Start Time (ms)", at) == pytest.approx(start / 1e9, abs=0.0006)
        assert table.number("Duration (ms)", at) == pytest.approx((end - start) / 1e9, abs=0.0006)
    # Stack, heap and free memory are areas; fragmentation is a line on an axis of its own.
    assert chart_with(shown.page, "area", "line")["area"] == 3
    assert shown.complaints() == {}


def test_graph_viewer_offers_the_operations_of_the_module(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    open_tool(shown, "graph_viewer", "body", host=HOST)
    module = shown.get("module_list").split(",")[1]
    answer: Any = shown.data(tag="hlo_stats", host=HOST)
    name = rows_of(answer, "hlo_op_name")[1][0]
    wait_for_text(shown.page, f"{module} - {name}")
    shown.page.get_by_text(f"{module} - {name}", exact=True).click()
    assert name in str(shown.graph_frame().locator("svg").first.text_content())
    assert shown.complaints() == {}


def test_every_offered_tool_has_a_test_here(demo_link: str, viewer: MakeViewer) -> None:

    offered = set(json.loads(viewer(demo_link).get("run_tools", run="demo")))
    tested = {
        "overview_page", "input_pipeline_analyzer", "framework_op_stats", "op_profile", "hlo_stats",
        "roofline_model", "memory_viewer", "memory_profile", "graph_viewer",
        "trace_viewer@",  # test_tools.py
    }  # fmt: skip
    assert offered == tested
