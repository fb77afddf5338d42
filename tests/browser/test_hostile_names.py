"""Names in a profile stay text: they raise no dialog, run no script and add no element, in any tool."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from server.demo.session import write_session
from tests.browser.conftest import MakeViewer
from tests.browser.viewer import Viewer
from tests.browser.wire_rewriter import FieldPath, rewrite
from tests.services.hub import share
from tests.services.shelf import Shelf

# Breaks out of an attribute, of an element, of a template literal and of a script.
ATTACK = (
    "\"'><img src=x onerror=alert(1)><svg onload=alert(2)>"
    "`+alert(3)+`${alert(4)}</script><script>alert(5)</script>"
)

HLO = (1, 4, 2, 5, 6)
"""XSpace.planes.event_metadata.value.stats.bytes_value: an HloProto in the metadata plane."""

MESSAGES: frozenset[FieldPath] = frozenset(
    {
        (1,), (1, 3), (1, 3, 4), (1, 3, 4, 4), (1, 4), (1, 4, 2), (1, 4, 2, 5), (1, 5), (1, 5, 2),
        HLO, (*HLO, 1), (*HLO, 1, 3), (*HLO, 1, 3, 2), (*HLO, 1, 3, 2, 7),
    }
)  # fmt: skip

NAMES: frozenset[FieldPath] = frozenset(
    {
        (1, 3, 11),  # line's display name
        (1, 3, 4, 4, 5),  # an event's text
        (1, 4, 2, 4),  # display name of an event
        (*HLO, 1, 3, 2, 7, 2),  # op_name of an instruction
        (*HLO, 1, 3, 2, 7, 3),  # its source file
    }
)

EVENT_NAME = (1, 4, 2, 2)


def attacked(path: FieldPath, content: bytes) -> bytes:
    # Programs and memory events are found by their names, so those stay as they are.
    is_known = content.startswith((b"jit_", b"Memory"))
    if path in NAMES or (path == EVENT_NAME and content and not is_known):
        return content + ATTACK.encode()
    return content


@pytest.fixture(scope="module")
def hostile_link(shelf: Shelf) -> str:
    """Link to a session whose names attack."""
    folder = shelf.new_folder() / "plugins" / "profile" / "hostile"
    for path in write_session(folder, hosts=1, events=2000):
        path.write_bytes(rewrite(path.read_bytes(), MESSAGES, attacked))
    return share(shelf.url, "<img src=x onerror=alert(6)>", 'a "session" <i>', folder)


def elements_of(node: Any) -> Iterator[Any]:
    """Every element below a node of the debugger's tree, also in frames and shadow trees."""
    if node["nodeType"] == 1:
        yield node
    inner = [node["contentDocument"]] if "contentDocument" in node else []
    for child in (*node.get("children", ()), *node.get("shadowRoots", ()), *inner):
        yield from elements_of(child)


def is_of_the_attack(element: Any) -> bool:
    """Whether only the attack could have added this element."""
    flat = element.get("attributes", [])
    attributes = dict(zip(flat[::2], flat[1::2], strict=True))
    handlers = [name for name in attributes if re.match(r"on(?!-)", name)]
    loads_attack = element["localName"] == "img" and attributes.get("src") == "x"
    # Ours is a block of data, which no browser runs; whatever broke out of it would be an element of its own.
    is_data = attributes == {"type": "application/json", "id": "xh-page"}
    inline_script = element["localName"] == "script" and "src" not in attributes and not is_data
    return bool(handlers) or loads_attack or inline_script


def assert_only_text(shown: Viewer) -> None:
    """Nothing of the attack became more than text, in any frame."""
    # The trace viewer replaces the page's own ways to look at the tree; the debugger has others.
    debugger = shown.page.context.new_cdp_session(shown.page)
    tree = debugger.send("DOM.getDocument", {"depth": -1, "pierce": True})
    elements = list(elements_of(tree["root"]))
    assert len(elements) > 50
    assert [element for element in elements if is_of_the_attack(element)] == []
    assert shown.dialogs == []
    assert shown.outside == []


@pytest.mark.parametrize(
    ("tool", "selector"),
    [
        ("overview_page", "svg.xh-chart"),
        ("hlo_stats", ".xh-table tbody tr"),
        ("framework_op_stats", ".xh-table tbody tr"),
        ("op_profile", "op-table-entry"),
        ("roofline_model", ".xh-table tbody tr"),
        ("memory_viewer", "svg.xh-chart"),
    ],
)
def test_names_stay_text(hostile_link: str, viewer: MakeViewer, tool: str, selector: str) -> None:
    shown = viewer(hostile_link)
    shown.open(tool)
    shown.wait_for(selector)
    shown.page.wait_for_load_state("networkidle")
    assert_only_text(shown)


def test_names_are_shown_in_full_in_a_table(hostile_link: str, viewer: MakeViewer) -> None:
    shown = viewer(hostile_link)
    shown.open("hlo_stats")
    cell = shown.page.locator(".xh-table tbody td", has_text="alert(1)").first
    cell.wait_for()
    assert ATTACK in str(cell.text_content())


def test_names_stay_text_in_tooltips(hostile_link: str, viewer: MakeViewer) -> None:
    shown = viewer(hostile_link)
    shown.open("hlo_stats")
    slices = shown.page.locator(".xh-slice")
    slices.first.wait_for()
    for index in range(min(6, slices.count())):
        slices.nth(index).dispatch_event("mousemove", {"clientX": 300, "clientY": 300})
        assert shown.page.locator(".xh-tooltip *").count() == 0
    assert_only_text(shown)


def test_names_stay_text_in_the_trace(hostile_link: str, viewer: MakeViewer) -> None:
    shown = viewer(hostile_link)
    shown.open("trace_viewer@")
    shown.trace_frame()
    box = shown.wait_for("iframe[src*='trace_viewer_index']").bounding_box()
    assert box is not None
    # Selects whatever is drawn there, so that its names come up in the details.
    shown.page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + 200)
    shown.page.wait_for_timeout(500)
    assert_only_text(shown)


def test_names_stay_text_in_the_graph(hostile_link: str, viewer: MakeViewer) -> None:
    shown = viewer(hostile_link)
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    shown.open(
        "graph_viewer",
        module_name=module,
        node_name="all-reduce.39",
        graph_width="1",
    )
    frame = shown.graph_frame()
    assert "alert(3)" in " ".join(frame.locator("svg title").all_text_contents())
    assert_only_text(shown)


def test_run_and_session_names_stay_text_in_the_bar(hostile_link: str, viewer: MakeViewer) -> None:
    shown = viewer(hostile_link)
    shown.open("overview_page")
    assert shown.wait_for("#xh-bar b").inner_text() == "<img src=x onerror=alert(6)>"
    assert shown.wait_for("#xh-bar .xh-two-lines > span").inner_text() == 'a "session" <i>'
