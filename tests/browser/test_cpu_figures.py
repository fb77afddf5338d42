"""What a reader sees of a profile that JAX recorded on a CPU: its figures, and why others are missing.

Expected values come from XProf's answer to the same question, put into words here as XProf's page does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.browser.conftest import MakeViewer
from tests.browser.reading import (
    chart_with,
    charts_on,
    open_tool,
    properties_of,
    text_of,
    wait_for_text,
)
from tests.browser.viewer import Viewer

HOST = "jax-cpu"
CHART = "svg[role=img]"
COUNT_SLICES = """() => {
  const model = document.querySelector("tf-trace-viewer")._traceViewer.model;
  return [...model.getDescendantEvents()].filter((event) => !("startSlice" in event)).length;
}"""
"""Counts the trace viewer's events without the arrows between them."""

SIGMA = "\N{GREEK SMALL LETTER SIGMA}"


@pytest.fixture
def shown(other_links: Mapping[str, str], viewer: MakeViewer) -> Viewer:
    """The CPU profile's link."""
    return viewer(other_links["jax"])


def series_of(facts: Mapping[str, str]) -> int:
    """How many times a step consists of."""
    columns = facts["step_time_graph_column_ids"].replace(" ", "").split(",")
    return len(set(columns) - {"stepnum", "tooltip"})


def test_overview(shown: Viewer) -> None:
    open_tool(shown, "overview_page", CHART)
    facts = properties_of(shown.data(tag="overview_page", host=HOST))
    average = facts["steptime_ms_average"]
    wait_for_text(
        shown.page,
        f"Average Step Time ({SIGMA} = {facts['steptime_ms_standard_deviation']} ms)"
        f" lower is better. {average} ms",
    )
    text = text_of(shown.page)
    host, spread = facts["host_compute_time_ms_avg"], facts["host_compute_time_ms_sdv"]
    assert f"Host Compute Time ({SIGMA} = {spread} ms) {host} ms" in text
    assert "Number of Hosts used: 1" in text
    assert "Device type: CPU" in text
    assert chart_with(shown.page, "area")["area"] == series_of(facts) == 9
    assert shown.complaints() == {}


def test_input_pipeline(shown: Viewer) -> None:
    open_tool(shown, "input_pipeline_analyzer", CHART)
    facts = properties_of(shown.data(tag="input_pipeline_analyzer", host=HOST))
    wait_for_text(shown.page, facts["input_conclusion"])
    text = text_of(shown.page)
    average, spread = facts["steptime_ms_average"], facts["steptime_ms_standard_deviation"]
    assert f"Average: {average} ms ({SIGMA} = {spread} ms)" in text
    assert f"Range: {facts['steptime_ms_minimum']} - {facts['steptime_ms_maximum']} ms" in text
    assert chart_with(shown.page, "area")["area"] == series_of(facts)
    assert shown.complaints() == {}


def test_trace(shown: Viewer) -> None:
    with shown.page.expect_request(lambda request: "data?tag=trace_viewer" in request.url) as asked:
        shown.open("trace_viewer@", hosts=HOST)
    frame = shown.trace_frame()
    events = shown.page.request.get(asked.value.url).json()["traceEvents"]
    complete = [event for event in events if event.get("ph") == "X"]
    assert frame.evaluate(COUNT_SLICES) == len(complete)
    names = {event["name"] for event in complete}
    assert {"PjitFunction(train_step)", "PjitFunction(eval_step)"} <= names
    threads = [event["args"]["name"] for event in events if event.get("name") == "thread_name"]
    text = frame.evaluate("document.body.innerText")
    assert "/host:CPU" in text
    assert len(threads) >= 5
    assert [name for name in threads if name.split("/")[0] not in text] == []
    assert shown.complaints() == {}


def test_memory_viewer(shown: Viewer) -> None:
    module = next(
        name for name in shown.get("module_list").split(",") if name.startswith("jit_train_step")
    )
    open_tool(shown, "memory_viewer", CHART, host=HOST, moduleName=module)
    answer: Any = shown.data(tag="memory_viewer", host=HOST, module_name=module)
    wait_for_text(shown.page, f"Module Name: {module}")
    text = text_of(shown.page)
    assert f"Peak memory allocation: {answer['peakHeapMib']:.2f} MiB" in text
    assert f"{answer['entryComputationParametersMib']:.2f} MiB total argument size" in text
    assert chart_with(shown.page, "line")["line"] == 2
    buffers = [chart["bar"] for chart in charts_on(shown.page) if "bar" in chart]
    assert buffers == [len(answer[name]) for name in ("maxHeap", "maxHeapBySize", "maxHeap")]
    assert shown.complaints() == {}


def test_graph_of_a_program(shown: Viewer) -> None:
    module = next(
        name for name in shown.get("module_list").split(",") if name.startswith("jit_train_step")
    )
    shown.open("graph_viewer", module_name=module, node_name="wrapped_tanh", graph_width="1")
    assert "wrapped_tanh" in str(shown.graph_frame().locator("svg").first.text_content())
    assert shown.complaints() == {}


def notes_of(shown: Viewer) -> dict[str, str]:
    """Why tools have nothing to show, by tool, as the server says it."""
    return {note["tool"]: note["reason"] for note in json.loads(shown.get("status"))["tools"]}


@pytest.mark.parametrize("tool", ["op_profile", "hlo_stats", "roofline_model", "memory_profile"])
def test_tool_without_data_says_why_and_what_helps(shown: Viewer, tool: str) -> None:
    reason = notes_of(shown)[tool]
    shown.open(tool, host=HOST)
    wait_for_text(shown.page, reason)
    shown.page.wait_for_load_state("networkidle")
    text = text_of(shown.page).lower()
    assert reason.lower() in text
    assert "no data" not in text
    # XProf stays usable: the menu to another tool is there.
    assert shown.page.get_by_text("Tools (").first.is_visible()
    assert shown.complaints() == {}


def test_framework_ops_without_operations_say_so(shown: Viewer) -> None:
    shown.open("framework_op_stats", host=HOST)
    shown.wait_for("h1, h2, h3, table, main")
    shown.page.wait_for_load_state("networkidle")
    reasons = notes_of(shown)
    if "framework_op_stats" in reasons:
        wait_for_text(shown.page, reasons["framework_op_stats"])
    assert "no data" not in text_of(shown.page).lower()
    assert shown.complaints() == {}


def test_every_offered_tool_is_tested_here(shown: Viewer) -> None:
    offered = set(json.loads(shown.get("run_tools", run="jax")))
    with_data = {
        "overview_page",
        "input_pipeline_analyzer",
        "trace_viewer@",
        "memory_viewer",
        "graph_viewer",
    }
    without = {"op_profile", "hlo_stats", "roofline_model", "memory_profile", "framework_op_stats"}
    assert offered == with_data | without
