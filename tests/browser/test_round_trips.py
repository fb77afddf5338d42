"""An address that somebody copied shows the same to somebody who has never been here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import FIRST_TIME, Viewer

HOST = "t1v-n-3c1f2ab0-w-1"
OTHER_HOST = "t1v-n-3c1f2ab0-w-2"
MODULE = "jit_train_step(1436443222220527)"
OP = "all-reduce.39"
MENUS = "mat-select"


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A page of somebody else: another browser context, without any memory."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


def query_of(address: str) -> Mapping[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def expect_choices(page: Page, *texts: str) -> None:
    """Waits until XProf's menus show these texts."""
    for text in texts:
        expect(page.locator(MENUS).get_by_text(text, exact=True).first).to_be_visible(
            timeout=FIRST_TIME
        )


@pytest.mark.parametrize(
    ("tool", "title", "host"),
    [
        ("overview_page", "Overview Page", "ALL_HOSTS"),
        ("input_pipeline_analyzer", "Input Pipeline Analysis", HOST),
        ("framework_op_stats", "Framework Op Stats", HOST),
        ("hlo_stats", "HLO Op Stats", HOST),
        ("roofline_model", "Roofline Model", HOST),
        ("memory_profile", "Memory Profile", HOST),
    ],
)
def test_tool_and_host(
    demo_link: str, viewer: MakeViewer, stranger: Page, tool: str, title: str, host: str
) -> None:
    shown = viewer(demo_link)
    shown.open(tool, host=host)
    expect_choices(shown.page, title, host)
    stranger.goto(shown.page.url)
    expect_choices(stranger, title, host)
    assert query_of(stranger.url)["tag"] == tool


def test_memory_viewer_opens_module_and_memory(
    demo_link: str, viewer: MakeViewer, stranger: Page
) -> None:
    shown = viewer(demo_link)
    shown.open("memory_viewer", host=HOST, module_name=MODULE)
    expect_choices(shown.page, HOST, MODULE, "HBM")
    shown.page.locator("memory-viewer mat-select").first.click()
    shown.page.get_by_role("option", name="VMEM").click()
    shown.page.wait_for_url("**memory_space=1**")
    assert shown.complaints() == {}
    stranger.goto(shown.page.url)
    expect_choices(stranger, HOST, MODULE, "VMEM")
    assert query_of(stranger.url)["memory_space"] == "1"


def test_op_profile_opens_its_grouping(demo_link: str, viewer: MakeViewer, stranger: Page) -> None:
    shown = viewer(demo_link)
    shown.open("op_profile", host=HOST, group_by="category")
    expect_choices(shown.page, HOST, "Category")
    stranger.goto(shown.page.url)
    expect_choices(stranger, HOST, "Category")
    assert query_of(stranger.url)["group_by"] == "category"


def test_graph_viewer_opens_op_and_options(
    demo_link: str, viewer: MakeViewer, stranger: Page
) -> None:
    shown = viewer(demo_link)
    shown.open("graph_viewer", host=HOST, module_name=MODULE, node_name=OP)
    shown.graph_frame()
    shown.page.locator("graph-viewer input[type=number]").fill("2")
    shown.page.locator("graph-viewer form button").first.click()
    shown.page.wait_for_url("**graph_width=2**")
    # XProf writes an address at the root of the host here.
    assert shown.page.url.startswith(shown.base)
    stranger.goto(shown.page.url)
    other = Viewer(stranger, demo_link)
    other.graph_frame()
    expect(stranger.locator("graph-viewer input[type=number]")).to_have_value("2")
    expect(stranger.get_by_role("textbox", name="op-name")).to_have_value(OP)
    expect_choices(stranger, HOST, MODULE)
    drawn = next(frame.url for frame in stranger.frames if "type=graph" in frame.url)
    assert parse_qs(urlsplit(drawn).query)["graph_width"] == ["2"]
    assert parse_qs(urlsplit(drawn).query)["node_name"] == [OP]


def test_what_belongs_to_another_tool_leaves_the_address(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    shown.open("op_profile", host=HOST, group_by="category")
    expect_choices(shown.page, "Category")
    entries = shown.page.evaluate("history.length")
    shown.page.get_by_text("HLO Op Profile", exact=True).first.click()
    with shown.page.expect_request("**/data?*tag=hlo_stats*") as asked:
        shown.page.get_by_role("option", name="HLO Op Stats").click()
    assert "group_by" not in asked.value.url
    expect_choices(shown.page, "HLO Op Stats")
    assert set(query_of(shown.page.url)) == {"tag", "run", "host"}
    assert shown.page.evaluate("history.length") == entries + 1


def test_nothing_of_another_link_is_asked_for(
    demo_link: str, viewer: MakeViewer, page: Page
) -> None:
    shown = viewer(demo_link)
    shown.open("hlo_stats", host=HOST, hlo_op_name=OP)
    expect_choices(shown.page, "HLO Op Stats")
    with shown.page.expect_request("**/data?*tag=overview_page*") as asked:
        shown.page.goto(shown.base)
    assert OP not in asked.value.url
    assert HOST not in asked.value.url


def test_a_trace_with_one_host_opens_that_host(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    with shown.page.expect_request("**/data?*tag=trace_viewer*") as asked:
        shown.open("trace_viewer@", host=OTHER_HOST)
    assert parse_qs(urlsplit(asked.value.url).query)["hosts"] == [OTHER_HOST]
