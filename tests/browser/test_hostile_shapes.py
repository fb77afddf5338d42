"""Whatever names say, a tool's page has the same elements as with harmless names, and asks no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import MakeViewer
from tests.browser.hostile_sessions import ATTACKS, write_pair
from tests.browser.viewer import Viewer
from tests.services.hub import share
from tests.services.shelf import Shelf

ACTIVE = frozenset(
    (
        "script",
        "img",
        "iframe",
        "frame",
        "object",
        "embed",
        "link",
        "style",
        "base",
        "form",
        "meta",
        "video",
    )
)
"""Elements that load, run or change something."""

READY = {
    "overview_page": "svg[role=img]",
    "input_pipeline_analyzer": "svg[role=img]",
    "framework_op_stats": "table tbody tr",
    "op_profile": "op-table-entry",
    "hlo_stats": "table tbody tr",
    "roofline_model": "table tbody tr",
    "memory_profile": "mat-sidenav-content",
    "memory_viewer": "svg[role=img]",
    "trace_viewer@": "iframe[src*='trace_viewer_index']",
}
"""What to wait for in each tool."""


@pytest.fixture(scope="module")
def pair(shelf: Shelf) -> Mapping[str, str]:
    """Links to the sessions of `write_pair`, on one hub; what is named by people attacks too."""
    root = shelf.new_folder() / "plugins" / "profile"
    return {
        name: share(shelf.url, f"run {name}", f"session {name}", folder)
        for name, folder in write_pair(root).items()
    }


def elements_of(node: Any) -> Iterator[Any]:
    """Every element below a node of the debugger's tree, also in frames and shadow trees."""
    if node["nodeType"] == 1:
        yield node
    inner = [node["contentDocument"]] if "contentDocument" in node else []
    for child in (*node.get("children", ()), *node.get("shadowRoots", ()), *inner):
        yield from elements_of(child)


def attributes_of(element: Any) -> dict[str, str]:
    """An element's attributes by name."""
    flat = element.get("attributes", [])
    return dict(zip(flat[::2], flat[1::2], strict=True))


def is_dangerous(attributes: Mapping[str, str]) -> bool:
    """Whether they run something or lead out of the server."""
    return any(
        name.startswith(("onerror", "onload", "onmouse", "onclick", "srcdoc"))
        or value.strip().lower().startswith("javascript:")
        or (name in {"href", "src", "action"} and "other.example" in value)
        for name, value in attributes.items()
    )


def inventory(shown: Viewer) -> tuple[Counter[str], list[dict[str, str]]]:
    """How many active elements of each kind the page has, and attributes that are dangerous."""
    # The trace viewer replaces the page's own ways to look at the tree; the debugger has others.
    debugger = shown.page.context.new_cdp_session(shown.page)
    tree = debugger.send("DOM.getDocument", {"depth": -1, "pierce": True})
    debugger.detach()
    elements = list(elements_of(tree["root"]))
    assert len(elements) > 50
    kinds = Counter(name for one in elements if (name := one["localName"]) in ACTIVE)
    return kinds, [found for one in elements if is_dangerous(found := attributes_of(one))]


def opened(viewer: Viewer, tool: str) -> tuple[Counter[str], list[dict[str, str]], set[str]]:
    """What a tool's page is made of, and the paths that it asked for."""
    asked: set[str] = set()
    viewer.page.on("request", lambda request: asked.add(urlsplit(request.url).path))
    viewer.open(tool)
    viewer.wait_for(READY[tool])
    if tool == "trace_viewer@":
        viewer.trace_frame()
    viewer.page.wait_for_load_state("networkidle")
    kinds, dangerous = inventory(viewer)
    link = urlsplit(viewer.base).path
    paths = {path.removeprefix(link) for path in asked}
    # Whether an answer is still waited for, and so asked about, is a matter of time.
    return kinds, dangerous, {path for path in paths if not path.startswith("progress/")}


@pytest.mark.parametrize("tool", READY)
def test_names_add_no_element_and_no_request(
    pair: Mapping[str, str], viewer: MakeViewer, tool: str
) -> None:
    harmless = opened(viewer(pair["harmless"]), tool)
    hostile = viewer(pair["hostile"])
    kinds, dangerous, asked = opened(hostile, tool)
    assert kinds == harmless[0]
    assert dangerous == []
    assert asked == harmless[2]
    assert hostile.dialogs == []
    assert hostile.outside == []


@pytest.mark.parametrize("tool", ["kernel_stats", "hlo_stats"])
def test_names_of_kernels_add_no_element(
    pair: Mapping[str, str], viewer: MakeViewer, tool: str
) -> None:
    found = []
    for name in ("harmless-gpu", "hostile-gpu"):
        shown = viewer(pair[name])
        shown.open(tool)
        shown.wait_for("table tbody tr")
        shown.page.wait_for_load_state("networkidle")
        found.append(inventory(shown))
        assert shown.dialogs == []
    assert found[0] == found[1]
    assert found[1][1] == []


@pytest.mark.parametrize("tool", ["memory_viewer", "graph_viewer"])
def test_a_hostile_module_can_be_chosen(
    pair: Mapping[str, str], viewer: MakeViewer, tool: str
) -> None:
    shown = viewer(pair["hostile"])
    module = next(name for name in shown.get("module_list").split(",") if "alert(14)" in name)
    shown.open(tool, moduleName=module, module_name=module)
    shown.page.get_by_text("alert(14)").first.wait_for()
    shown.page.wait_for_load_state("networkidle")
    assert inventory(shown)[1] == []
    assert shown.dialogs == []
    assert shown.outside == []


def test_every_attack_is_in_the_session(pair: Mapping[str, str], viewer: MakeViewer) -> None:
    shown = viewer(pair["hostile"])
    answer: Any = shown.data(tag="hlo_stats", host="t1v-n-3c1f2ab0-w-0")
    texts = " ".join(str(cell.get("v")) for row in answer["rows"] for cell in row["c"])
    assert [attack for attack in ATTACKS if attack.strip() not in texts] == []
