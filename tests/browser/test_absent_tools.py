"""Tools that have nothing to show say so, with the reason, and lead to tools that show the profile."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import Viewer

NOTICE = ".xh-tool-notice"
EMPTY_TABLE = json.dumps({"cols": [], "rows": []})


@pytest.fixture
def cpu_link(other_links: Mapping[str, str]) -> str:
    """A link to a profile of JAX on a CPU."""
    return other_links["jax"]


@pytest.fixture
def gpu_link(other_links: Mapping[str, str]) -> str:
    """A link to a profile of GPUs whose host recorded nothing."""
    return other_links["gpu"]


def reason_of(shown: Viewer, tool: str) -> str:
    """What the server says of a tool."""
    tools = json.loads(shown.get("status"))["tools"]
    return next(str(note["reason"]) for note in tools if note["tool"] == tool)


@pytest.mark.parametrize(
    "tool", ["hlo_stats", "op_profile", "framework_op_stats", "roofline_model", "memory_profile"]
)
def test_a_tool_without_content_gives_the_reason_and_no_empty_view(
    cpu_link: str, viewer: MakeViewer, tool: str
) -> None:
    shown = viewer(cpu_link)
    shown.open(tool)
    notice = shown.wait_for(NOTICE)
    expect(notice).to_contain_text(reason_of(shown, tool))
    view = shown.page.locator(
        "main-page > mat-sidenav-container > mat-sidenav-content > .full-height"
    )
    expect(view).to_have_text("", use_inner_text=True)
    assert "no data" not in shown.page.locator("body").inner_text().lower()
    assert not shown.errors


def test_the_notice_leads_to_a_tool_that_shows_the_profile(
    cpu_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(cpu_link)
    shown.open("hlo_stats")
    notice = shown.wait_for(NOTICE)
    notice.get_by_role("link", name="Overview").click()
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(shown.page.locator(NOTICE)).to_have_count(0)
    assert not shown.errors


def test_a_tool_that_xprof_hides_is_explained_above_the_one_that_opens_instead(
    cpu_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(cpu_link)
    shown.open("kernel_stats")
    notice = shown.wait_for(NOTICE)
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(notice).to_contain_text("Kernel Stats has nothing to show here")
    expect(notice).to_contain_text(reason_of(shown, "kernel_stats"))
    notice.get_by_role("button", name="Dismiss").click()
    expect(shown.page.locator(NOTICE)).to_have_count(0)


def test_the_menu_names_tools_without_content(cpu_link: str, viewer: MakeViewer) -> None:
    shown = viewer(cpu_link)
    shown.open("overview_page")
    summary = shown.wait_for(".xh-absent summary")
    summary.click()
    listed = shown.page.locator(".xh-absent ul")
    for title in ("HLO Op Stats", "Memory Profile", "Kernel Stats", "Perf Counters"):
        expect(listed).to_contain_text(title)
    expect(listed).to_contain_text(reason_of(shown, "hlo_stats"))
    summary.click()
    shown.page.locator("mat-select", has_text="Overview Page").click()
    marked = shown.page.locator("mat-option.xh-absent-option")
    expect(marked).to_have_count(5)
    expect(marked.filter(has_text="HLO Op Stats")).to_have_count(1)
    shown.page.locator("mat-option", has_text="HLO Op Profile").click()
    expect(shown.page.locator(NOTICE)).to_contain_text("HLO Op Profile has nothing to show here")


def test_a_tool_that_fails_for_want_of_content_is_explained_likewise(
    gpu_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(gpu_link)
    shown.open("memory_profile")
    expect(shown.wait_for(NOTICE)).to_contain_text("No allocations of memory were recorded")
    expect(shown.page.locator(".xh-notice")).to_have_count(0)


def test_kernels_of_a_gpu_are_offered_and_shown(gpu_link: str, viewer: MakeViewer) -> None:
    shown = viewer(gpu_link)
    shown.open("kernel_stats")
    shown.wait_for(".xh-table tbody tr")
    assert "kernel_stats" not in {note["tool"] for note in json.loads(shown.get("status"))["tools"]}
    expect(shown.page.locator(NOTICE)).to_have_count(0)


def test_an_answer_without_content_is_explained_though_the_tool_is_fit(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)

    def nothing(route: Route) -> None:
        route.fulfill(content_type="application/json", body=EMPTY_TABLE)

    shown.page.route("**/data?*tag=hlo_stats*", nothing)
    shown.open("hlo_stats")
    expect(shown.wait_for(NOTICE)).to_contain_text("XProf found nothing for it")
    expect(shown.page.locator(f"{NOTICE} h2")).to_have_text("HLO Op Stats has nothing to show here")


def test_what_counts_as_an_empty_answer(modules: Modules) -> None:
    script = """
      const { isEmptyAnswer } = await load("emptiness.js");
      return argument.map(([tool, answer]) => isEmptyAnswer(tool, JSON.stringify(answer)));
    """
    idle = {"c": [{"v": 1}, {"v": "IDLE"}]}
    row = {"c": [{"v": 1}, {"v": "fusion"}]}
    allocator: object = {"memoryProfilePerAllocator": {"0": {}}}
    cases: list[tuple[str, object, bool]] = [
        ("hlo_stats", {"rows": []}, True),
        ("hlo_stats", {"rows": [row]}, False),
        ("framework_op_stats", [{"rows": [idle]}, {"rows": []}], True),
        ("framework_op_stats", [{"rows": [idle, row]}, {"rows": []}], False),
        ("roofline_model", [{"rows": []}, {"rows": [row]}], True),
        ("op_profile", {"byProgram": {"children": []}}, True),
        ("op_profile", {"byProgram": {"children": [{"name": "jit_step"}]}}, False),
        ("memory_profile", {"memoryProfilePerAllocator": {}}, True),
        ("memory_profile", allocator, False),
        ("overview_page", [], False),
        ("hlo_stats", {"another": "shape"}, False),
        ("hlo_stats", None, False),
    ]
    found = modules.run(script, [[tool, answer] for tool, answer, _ in cases])
    assert found == [is_empty for _, _, is_empty in cases]


def test_names_of_tools_and_reasons_stay_text(modules: Modules) -> None:
    script = """
      document.body.innerHTML = "<main-page><div><sidenav><div class='item-container'></div>" +
        "<div class='item-container'></div></sidenav></div></main-page>";
      const { showInMenu } = await load("toolmenu.js");
      showInMenu([{ tool: "a", title: argument, reason: argument }]);
      return [document.querySelectorAll(".xh-absent img").length,
        document.querySelector(".xh-absent p").textContent];
    """
    hostile = "<img src=x onerror=alert(1)>"
    assert modules.run(script, hostile) == [0, hostile]
