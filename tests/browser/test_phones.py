"""XProf's tools on a phone: nothing lies on something else, and all can be scrolled to."""

from __future__ import annotations

from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import Viewer

WIDTH, HEIGHT = 390, 844


def on_a_phone(viewer: MakeViewer, link: str) -> Viewer:
    shown = viewer(link)
    shown.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    return shown


def box(found: Locator) -> FloatRect:
    """Where it lies in the window."""
    rectangle = found.bounding_box()
    assert rectangle is not None
    return rectangle


def scrolled_to(found: Locator) -> FloatRect:
    """Where it lies after a reader has scrolled to it."""
    found.scroll_into_view_if_needed()
    return box(found)


def columns(page: Page, tool: str) -> tuple[FloatRect, FloatRect]:
    """The column beside a tool, and the tool."""
    parts = page.locator(f"{tool} > mat-sidenav-container")
    return box(parts.locator("> mat-sidenav")), box(parts.locator("> mat-sidenav-content"))


def test_a_table_of_operations_can_be_scrolled_to_its_last_column(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = on_a_phone(viewer, demo_link)
    shown.open("op_profile")
    shown.wait_for("op-table-entry")
    version = shown.page.locator(".profiler-toolbar .version-label")
    expect(version).to_be_visible()
    # The number of hosts that are missing needs its place.
    shown.page.locator("#xh-hosts").evaluate("hosts => hosts.classList.add('xh-warn')")
    expect(version).to_be_hidden()
    assert not shown.page.locator("op-profile mat-sidenav").is_visible()
    last = scrolled_to(shown.page.locator("op-table .hbmUtilization-header"))
    assert 0 <= last["x"] <= last["x"] + last["width"] <= WIDTH


def test_what_the_memory_viewer_lets_choose_stands_above_its_figures(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = on_a_phone(viewer, demo_link)
    shown.open("memory_viewer")
    shown.wait_for("svg.xh-chart")
    chosen, figures = columns(shown.page, "memory-viewer")
    assert chosen["y"] + chosen["height"] <= figures["y"]
    assert chosen["width"] == figures["width"] == WIDTH
    chart = scrolled_to(shown.page.locator("program-order-chart svg.xh-chart").last)
    assert 0 <= chart["y"] < HEIGHT


def test_a_graph_is_as_wide_as_the_phone_and_comes_before_its_form(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = on_a_phone(viewer, demo_link)
    shown.open("graph_viewer")
    shown.wait_for("graph-viewer .default-graph")
    form, choices = columns(shown.page, "graph-viewer")
    assert form["y"] + form["height"] <= choices["y"]
    shown.page.locator("graph-viewer .default-graph mat-chip-option").first.click()
    shown.graph_frame()
    form, graph = columns(shown.page, "graph-viewer")
    assert graph["y"] + graph["height"] <= form["y"]
    assert graph["width"] == WIDTH
    frame = box(shown.page.locator("iframe#graph-html"))
    assert frame["y"] + frame["height"] <= HEIGHT
