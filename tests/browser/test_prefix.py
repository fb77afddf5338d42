"""A hub below a path prefix: nothing that the page asks for leaves the link."""

from __future__ import annotations

import pytest

from tests.browser.conftest import MakeViewer

TOOLS = [
    "overview_page",
    "input_pipeline_analyzer",
    "framework_op_stats",
    "op_profile",
    "hlo_stats",
    "roofline_model",
    "memory_profile",
    "memory_viewer",
]


@pytest.mark.parametrize("tool", TOOLS)
def test_tool_stays_under_the_prefix(prefixed_link: str, viewer: MakeViewer, tool: str) -> None:
    assert "/team/xprof/s/" in prefixed_link
    shown = viewer(prefixed_link)
    shown.open(tool)
    # An idle network is no sign of it: on a busy machine XProf's scripts begin after a pause.
    shown.page.wait_for_url(lambda url: url.startswith(f"{shown.base}{tool}?"))
    shown.page.wait_for_load_state("networkidle")
    assert shown.complaints() == {}


def test_trace_stays_under_the_prefix(prefixed_link: str, viewer: MakeViewer) -> None:
    shown = viewer(prefixed_link)
    shown.open("trace_viewer@")
    assert shown.trace_frame().url.startswith(shown.base)
    assert shown.complaints() == {}


def test_graph_stays_under_the_prefix(prefixed_link: str, viewer: MakeViewer) -> None:
    shown = viewer(prefixed_link)
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    shown.open("graph_viewer", module_name=module, node_name="all-reduce.39")
    assert shown.graph_frame().url.startswith(shown.base)
    assert shown.complaints() == {}
