"""Each tool shows what its data says, and the browser finds nothing to complain about."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import COUNT_EVENTS, Viewer

HOST = "t1v-n-3c1f2ab0-w-0"
CELLS_OUT_OF_PLACE = """(cells) => cells.filter((cell) => {
  const [row, own] = [cell.parentElement, cell].map((part) => part.getBoundingClientRect());
  const heading = cell.closest("table").querySelectorAll("thead th")[cell.cellIndex].getBoundingClientRect();
  const off = [own.top - row.top, own.left - heading.left, own.right - heading.right];
  return off.some((pixels) => Math.abs(pixels) > 1);
}).map((cell) => cell.textContent)"""


def table_property(tables: Any, name: str) -> str:
    """A property of the first table that has it."""
    return next(str(table["p"][name]) for table in tables if name in table.get("p", {}))


def test_overview_shows_the_step_time_of_the_data(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    average = table_property(
        shown.data(tag="overview_page", host="ALL_HOSTS"), "steptime_ms_average"
    )
    shown.page.get_by_text(f"{average} ms", exact=True).first.wait_for()
    assert shown.complaints() == {}


def test_step_time_chart_has_a_filled_area_per_series(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    tables: Any = shown.data(tag="overview_page", host="ALL_HOSTS")
    columns = table_property(tables, "step_time_graph_column_ids").split(",")
    series = [name for name in columns if name not in {"stepnum", "tooltip"}]
    shown.wait_for("svg.xh-chart .xh-area")
    assert shown.page.locator("svg.xh-chart .xh-area").count() == len(series)


def test_trace_viewer_holds_the_events_of_the_data(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    with shown.page.expect_request(lambda request: "data?tag=trace_viewer" in request.url) as asked:
        shown.open("trace_viewer@", hosts=HOST)
    frame = shown.trace_frame()
    events = shown.page.request.get(asked.value.url).json()["traceEvents"]
    complete = [event for event in events if event.get("ph") == "X"]
    assert frame.evaluate(COUNT_EVENTS) == len(complete)
    text = frame.evaluate("document.body.innerText")
    assert f"{HOST} /device:TPU:0" in text
    assert "XLA Ops" in text
    assert shown.complaints() == {}


def test_switch_to_the_viewer_that_needs_eval_is_not_offered(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    shown.open("trace_viewer@")
    shown.trace_frame()
    assert not shown.page.get_by_text("Switch to the new frontend").is_visible()


def test_op_profile_shows_the_tree_of_the_data(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("op_profile", host=HOST)
    data: Any = shown.data(tag="op_profile", host=HOST, group_by="program")
    program = data["byProgramExcludeIdle"]["children"][0]
    shown.page.locator("op-table-entry .name", has_text=program["name"]).first.click()
    for category in program["children"]:
        shown.page.locator("op-table-entry .name", has_text=category["name"]).first.wait_for()
    assert shown.complaints() == {}


def test_hlo_stats_table_shows_the_rows_of_the_data(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("hlo_stats", host=HOST)
    table: Any = shown.data(tag="hlo_stats", host=HOST)
    names = [column["id"] for column in table["cols"]].index("hlo_op_name")
    shown.wait_for(".xh-table tbody tr")
    assert f"of {len(table['rows'])}" in shown.page.locator(".xh-pager").first.inner_text()
    headings = shown.page.locator(".xh-table th").all_inner_texts()
    column = headings.index("HLO op name")
    cells = shown.page.locator(f".xh-table tbody tr td:nth-child({column + 1})").all_inner_texts()
    assert cells == [row["c"][names]["v"] for row in table["rows"][: len(cells)]]
    # Each number lies in its row, below its heading: styles of other parts don't reach it.
    numbers = shown.page.locator(".xh-table tbody tr:first-child td.xh-number")
    assert numbers.count() >= 5
    assert numbers.evaluate_all(CELLS_OUT_OF_PLACE) == []
    assert shown.complaints() == {}


def test_hlo_stats_table_sorts_by_the_numbers(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("hlo_stats", host=HOST)
    table: Any = shown.data(tag="hlo_stats", host=HOST)
    times = [column["id"] for column in table["cols"]].index("total_time")
    heading = shown.page.locator(".xh-table th button", has_text="Total time (us)").first
    heading.click()
    heading.click()
    column = shown.page.locator(".xh-table th").all_inner_texts().index("Total time (us)")
    first = shown.page.locator(f".xh-table tbody tr td:nth-child({column + 1})").first.inner_text()
    largest = max(row["c"][times]["v"] for row in table["rows"])
    assert float(first.replace(",", "")) == pytest.approx(largest, abs=0.0006)


def test_graph_viewer_draws_the_op_and_its_neighbours(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    module = next(
        name for name in shown.get("module_list").split(",") if name.startswith("jit_train_step")
    )
    shown.open("graph_viewer", module_name=module, node_name="all-reduce.39", graph_width="1")
    frame = shown.graph_frame()
    answer = json.loads(
        shown.get(
            "graph_data", host=HOST, module_name=module, node_name="all-reduce.39", graph_width="1"
        )
    )
    drawn = frame.locator("svg .node").count()
    assert drawn == len(re.findall(r"^\s*\d+ \[label", answer["dot"], re.MULTILINE))
    assert "all-reduce.39" in frame.locator("svg .node").all_text_contents().__str__()
    assert shown.complaints() == {}


def test_memory_timeline_draws_every_buffer(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    module = shown.get("module_list").split(",")[0]
    query = f"tag=memory_viewer&module_name={module}&view_memory_allocation_timeline=true"
    shown.page.goto(f"{shown.base}data?{query}")
    shown.wait_for("svg .node")
    answer = json.loads(shown.get("timeline_data", module_name=module))
    boxes = re.findall(r'^\s*"\d+" \[tooltip=', answer["dot"], re.MULTILINE)
    assert shown.page.locator("svg .node").count() == len(boxes)
    assert shown.complaints() == {}


@pytest.mark.parametrize(
    ("tool", "selector"),
    [
        ("memory_viewer", "svg.xh-chart .xh-line"),
        ("memory_profile", "svg.xh-chart"),
        ("framework_op_stats", "svg.xh-chart .xh-slice"),
        ("input_pipeline_analyzer", "svg.xh-chart .xh-area"),
        ("roofline_model", "svg.xh-chart .xh-point"),
    ],
)
def test_tool_is_drawn_without_complaint(
    demo_link: str, viewer: MakeViewer, tool: str, selector: str
) -> None:
    shown = viewer(demo_link)
    shown.open(tool)
    shown.wait_for(selector)
    shown.page.wait_for_load_state("networkidle")
    assert shown.complaints() == {}


def links_of(shown: Viewer, selector: str) -> list[str]:
    """The addresses of links after a reader has pointed at them."""
    found = shown.page.locator(selector)
    for index in range(found.count()):
        found.nth(index).hover()
    return [str(link.get_property("href")) for link in found.element_handles()]


def test_link_to_the_roofline_stays_under_the_link(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    shown.wait_for("a:has-text('roofline')")
    for address in links_of(shown, "a:has-text('roofline')"):
        assert address.startswith(shown.base)
        assert "tag=roofline_model" in address


def test_link_to_the_memory_timeline_opens_it(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("memory_viewer", host=HOST)
    link = shown.wait_for("a:has-text('timeline')")
    link.evaluate("link => link.target = '_self'")
    link.click()
    shown.wait_for("svg .node")
    assert shown.complaints() == {}


def test_copy_button_copies_the_address(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.open("overview_page")
    shown.page.wait_for_url(
        "**/overview_page?**"
    )  # XProf writes the tool and host into the address
    shown.page.get_by_role("button", name="Copy link").click()
    shown.page.get_by_text("Copied", exact=True).wait_for()
    assert shown.page.evaluate("navigator.clipboard.readText()") == shown.page.url
