"""Our own pages and our parts of XProf's page: no serious finding of axe, and usable by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.viewer import FIRST_TIME
from tests.services.hub import DemoHub

OPENERS = "summary:not([tabindex='-1']), [aria-haspopup], [aria-expanded]"
"""Hosts that have nothing to tell are no menu, though their number stands in a summary."""
Theme = Literal["light", "dark"]
THEMES: Sequence[Theme] = ("light", "dark")
OURS = "[id^='xh-'], [class^='xh-'], [class*=' xh-']"
"""Our parts of XProf's page; the charts are among them."""


@pytest.fixture(params=THEMES)
def themed(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page for a reader who likes it light, and one who likes it dark; axe may be put into it."""
    context = browser.new_context(
        bypass_csp=True,
        color_scheme=request.param,
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(FIRST_TIME)
    yield context.new_page()
    context.close()


def serious(page: Page, parts: str | None = None) -> list[str]:
    """What axe finds serious or critical: rule, element and why."""
    found: Mapping[str, Any] = Axe().run(page, context=parts).response
    return [
        f"{finding['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for finding in found["violations"]
        if finding["impact"] in {"serious", "critical"}
        for node in finding["nodes"]
    ]


@pytest.mark.parametrize(
    "path", ["/", "/docs", "/s/xph_not-a-link", "/s/xph_not-a-link/data/plugin/profile/"]
)
def test_our_pages(demo_hub: DemoHub, themed: Page, path: str) -> None:
    themed.goto(f"{demo_hub.url}{path}")
    themed.get_by_role("heading").first.wait_for()
    assert serious(themed) == []


def test_page_of_a_graph(demo_hub: DemoHub, themed: Page) -> None:
    base = f"{demo_hub.link}/data/plugin/profile"
    module = themed.request.get(f"{base}/module_list").text().split(",")[0]
    themed.goto(
        f"{base}/data?tag=memory_viewer&module_name={module}&view_memory_allocation_timeline=true"
    )
    themed.locator("svg .node").first.wait_for()
    assert serious(themed) == []


def test_our_parts_of_xprofs_page(demo_hub: DemoHub, themed: Page) -> None:
    themed.goto(f"{demo_hub.link}/data/plugin/profile/?tag=overview_page")
    themed.locator("svg[role=img]").first.wait_for()
    assert serious(themed, OURS) == []
    for opener in openers(themed):
        if not opener.is_visible():
            continue
        opener.click()
        assert is_open(opener)
        assert serious(themed, OURS) == []
        themed.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("path", "status", "selector"),
    [
        ("**/profile/data*", 500, ".xh-notice.xh-final"),
        ("**/profile/data*", 503, ".xh-notice.xh-passing"),
    ],
)
def test_notices(demo_hub: DemoHub, themed: Page, path: str, status: int, selector: str) -> None:
    error = {"code": status, "message": "The file is cut off.", "details": [{"reason": "busy"}]}
    body = json.dumps({"error": error})
    headers = {"Retry-After": "60"} if status == 503 else {}
    themed.route(
        path,
        lambda route: route.fulfill(
            status=status, content_type="application/json", headers=headers, body=body
        ),
    )
    themed.goto(f"{demo_hub.link}/data/plugin/profile/?tag=hlo_stats")
    themed.locator(selector).wait_for()
    assert serious(themed, selector) == []


def test_progress(demo_hub: DemoHub, themed: Page) -> None:
    known = {"state": "running", "phase": "download", "doneBytes": 3e6, "totalBytes": 9e6}
    themed.route("**/profile/progress/**", lambda route: route.fulfill(json=known))
    themed.route("**/profile/data?*", lambda route: None)  # is never answered
    themed.goto(f"{demo_hub.link}/data/plugin/profile/?tag=hlo_stats")
    themed.locator(".xh-progress", has_text="3.0 of 9.0 MB").wait_for()
    assert serious(themed, ".xh-progress") == []


def test_first_glance(demo_hub: DemoHub, themed: Page) -> None:
    address = f"{demo_hub.link}/data/plugin/profile/?tag=overview_page"
    themed.goto(address)
    themed.locator("svg[role=img]").first.wait_for()
    # XProf does not come, so the glance stays.
    themed.route("**/bundle.js", lambda route: None)
    themed.goto(address, wait_until="commit")
    themed.locator("#xh-glance dd").first.wait_for()
    assert serious(themed, "#xh-glance") == []


def openers(page: Page) -> list[Any]:
    """What in our bar opens something."""
    return page.locator("#xh-bar").locator(OPENERS).all()


def focused_in_bar(page: Page) -> bool:
    """Whether the focus is on something of our bar."""
    inside: bool = page.evaluate("document.activeElement.closest('#xh-bar') !== null")
    return inside


def test_bar_by_keyboard(demo_hub: DemoHub, themed: Page) -> None:
    themed.goto(f"{demo_hub.link}/data/plugin/profile/?tag=overview_page")
    themed.locator("svg[role=img]").first.wait_for()
    for _ in range(6):
        themed.keyboard.press("Tab")
        if focused_in_bar(themed):
            break
    assert focused_in_bar(themed), "Tab does not come to the bar early"
    outline = themed.evaluate(
        """() => {
          const style = getComputedStyle(document.activeElement);
          return [style.outlineStyle, parseFloat(style.outlineWidth), style.boxShadow];
        }"""
    )
    assert (outline[0] != "none" and outline[1] > 0) or outline[2] != "none", "focus is not seen"


def test_menus_open_and_close_by_keyboard(demo_hub: DemoHub, themed: Page) -> None:
    themed.goto(f"{demo_hub.link}/data/plugin/profile/?tag=overview_page")
    themed.locator("svg[role=img]").first.wait_for()
    found = [opener for opener in openers(themed) if opener.is_visible()]
    assert found
    for opener in found:
        opener.focus()
        for key in ("Enter", "Space"):
            themed.keyboard.press(key)
            assert is_open(opener), f"{key} does not open {opener.inner_text()}"
            themed.keyboard.press("Escape")
            assert not is_open(opener), f"Escape does not close {opener.inner_text()}"
            assert opener.evaluate("element => element === document.activeElement")


def is_open(opener: Any) -> bool:
    """Whether what it opens is open."""
    opened: bool = opener.evaluate(
        """element => element.localName === "summary"
          ? element.parentElement.open : element.getAttribute("aria-expanded") === "true" """
    )
    return opened
