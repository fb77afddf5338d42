"""A selected event of the trace leads to its op's graph under the link, and names its neighbours, as text."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.test_trace_zoom import wait_for_view

HOST = "t1v-n-3c1f2ab0-w-1"
ATTACK = "<img src=x onerror=alert(1)>"
SELECT_OP = """() => {
  const viewer = document.querySelector("tf-trace-viewer");
  const events = [...viewer._traceViewer.model.getDescendantEvents()];
  const found = events.find((event) => event.parentContainer?.name === "XLA Ops" && event.duration > 0);
  viewer._traceViewer.brushingStateController.changeSelectionFromTimeline(new tr.model.EventSet([found]));
  return found.title;
}"""


def test_a_selected_op_leads_to_its_graph(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    neighbours = {"operand_names": [ATTACK], "consumer_names": ["multiply.2", "add.3"]}

    def answer(route: Route) -> None:
        route.fulfill(body=json.dumps(neighbours), content_type="application/json")

    shown.page.route("**/data?*type=adj_nodes*", answer)
    shown.open("trace_viewer@", hosts=HOST)
    frame = shown.trace_frame()
    wait_for_view(shown, frame)
    op = frame.evaluate(SELECT_OP)
    details = frame.locator("#event-details")
    link = details.get_by_role("link", name="see hlo graph").first
    expect(link).to_be_visible()
    address = urlsplit(link.evaluate("link => link.href"))
    assert address._replace(query="").geturl() == shown.base
    query = parse_qs(address.query)
    assert query["tag"] == ["graph_viewer"]
    assert query["node_name"] == [op]
    expect(details.get_by_text(f"Operands: {ATTACK}")).to_have_count(1)
    expect(details.get_by_text("Consumers: multiply.2, add.3")).to_have_count(1)
    assert details.locator("img").count() == 0
    assert shown.complaints() == {}
