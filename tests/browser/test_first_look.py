"""What a reader sees first: a page that nothing covers, and of a large graph the op that was asked for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import MakeViewer
from tests.browser.reading import wait_until

SIDE_BAR = "main-page > mat-sidenav-container > mat-sidenav"
HOST = "t1v-n-3c1f2ab0-w-0"
OP = "copy_bitcast_fusion.54"
PLACE = """(name) => {
  const container = document.getElementById("graph-container").getBoundingClientRect();
  const found = [...document.querySelectorAll(".cluster, .node")].filter((one) =>
    [...one.querySelectorAll("text")].some((text) => text.textContent.includes(name)));
  const text = found[0].querySelector("text").getBoundingClientRect();
  const box = found[0].getBoundingClientRect();
  return {
    textHeight: text.height,
    away: Math.abs(box.left + box.width / 2 - container.left - container.width / 2),
  };
}"""


@pytest.mark.parametrize("width", [390, 800])
def test_the_side_bar_does_not_lie_over_a_narrow_page(
    demo_link: str, viewer: MakeViewer, page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    shown = viewer(demo_link)
    shown.open("overview_page")
    page.get_by_text("Performance Summary").first.wait_for()
    expect(page.locator(f"{SIDE_BAR}.mat-drawer-opened")).to_have_count(0)
    page.wait_for_timeout(1200)  # for so long it is folded whenever it opens
    page.locator("button.sidenav-toggle-button").click()
    expect(page.locator(f"{SIDE_BAR}.mat-drawer-opened")).to_have_count(1)
    page.wait_for_timeout(500)
    expect(page.locator(f"{SIDE_BAR}.mat-drawer-opened")).to_have_count(1)


def test_wide_pages_keep_their_side_bar(demo_link: str, viewer: MakeViewer, page: Page) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    page.get_by_text("Performance Summary").first.wait_for()
    page.wait_for_timeout(1200)
    expect(page.locator(f"{SIDE_BAR}.mat-drawer-opened")).to_have_count(1)


def test_a_wide_graph_begins_at_its_op_at_a_size_that_can_be_read(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    shown.open("graph_viewer", host=HOST, module_name=module, node_name=OP, graph_width="2")
    frame = shown.graph_frame()

    def at_its_place() -> dict[str, float] | None:
        place: dict[str, float] = frame.evaluate(PLACE, OP)
        return place if place["away"] < 20 else None

    # It is put there within two frames of drawing, which a busy machine may be late with.
    place = wait_until(shown.page, at_its_place)
    assert place["textHeight"] >= 7  # 12 pixels at the smallest scale
    assert shown.complaints() == {}


def test_a_long_note_about_a_host_is_read_to_its_end(
    other_links: Mapping[str, str], viewer: MakeViewer, page: Page
) -> None:
    shown = viewer(other_links["jax"])
    shown.open("overview_page")
    page.locator("#xh-hosts summary", has_text="note").click()
    notes = page.locator("#xh-hosts ul")
    expect(notes).to_contain_text("device tools are empty")
    assert notes.evaluate("list => list.scrollWidth <= list.clientWidth")
