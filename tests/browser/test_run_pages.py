"""The pages of runs in a real browser: filters without a reload, addresses, keys, phones, hostile names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from tests.browser.test_accessibility import serious
from tests.contract.api_calls import attach, create_run, write_profile
from tests.services.api import Api, ApiServers

HOSTILE = (
    "<img src=x onerror=document.title='attacked'>",
    "\u202e\u2066rtl override",
    "🚀👩‍💻" * 10,
    "x" * 200,
    "javascript:alert(1)",
)
EXPECTED = ("htmx:afterRequest", "htmx:sendAbort", "htmx:abort")
"""What htmx writes to the console of a request that a later one takes the place of."""
NARROW: ViewportSize = {"width": 360, "height": 740}
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROWEST_GROUP = """() => Math.min(
  ...[...document.querySelectorAll("td[data-label=Group]")].map((cell) => cell.clientWidth)
)"""
MOST_LINES_OF_A_TIME = """() => Math.max(
  ...[...document.querySelectorAll("td time")].map((time) => {
    time.textContent = "59 minutes ago";
    return Math.round(time.offsetHeight / parseFloat(getComputedStyle(time).lineHeight));
  })
)"""
ODD = "/runs/hostile-3"
GONE = "/runs/none"
WAIT = 15_000


@pytest.fixture(scope="module")
def site(api_servers: ApiServers) -> Api:
    """A hub with 60 runs, the newest with two sessions; nobody has to sign in."""
    api = api_servers.get("sqlite", "dev")
    for number in range(54):
        group = "llama" if number % 2 else "vision"
        body = {
            "labels": {"team": "perf"},
            "runSet": group,
            "configs": {"userConfigs": {"n": {"a": 1}}},
        }
        state = {"state": "FAILED"} if number % 10 == 0 else {}
        create_run(api, f"run-{number:02}", displayName=f"Train {number:02}", **body, **state)
    for number, name in enumerate(HOSTILE):
        create_run(
            api, f"hostile-{number}", displayName=name, runSet=name, labels={f"k{number}": name}
        )
    create_run(api, "newest", displayName="The newest", note="see https://example.org/x")
    for session in ("first", "second"):
        attach(
            api,
            "newest",
            write_profile(api, session, log_directory=session),
            displayName=HOSTILE[0],
        )
    return api


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A reader's browser; whatever goes wrong on a page of it fails the test."""
    opened = browser.new_context(viewport=WIDE, reduced_motion="reduce")
    opened.set_default_timeout(WAIT)
    wrong: list[str] = []
    opened.on("weberror", lambda error: wrong.append(str(error.error)))
    opened.on(
        "console", lambda message: wrong.append(message.text) if message.type == "error" else None
    )
    yield opened
    opened.close()
    assert [line for line in wrong if not line.startswith(EXPECTED)] == []


def rows(page: Page) -> list[str]:
    return page.locator(".runs-table .name").all_inner_texts()


def test_filters_change_the_list_and_the_address_without_a_reload(
    site: Api, context: BrowserContext
) -> None:
    page = context.new_page()
    page.goto(f"{site.url}/runs")
    page.evaluate("window.same = true")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("train 1")
    expect(page.locator(".count")).to_contain_text("15 runs")
    expect(page).to_have_url(re.compile(r"/runs\?q=train\+1$"))
    page.locator("select[name=state]").select_option("FAILED")
    expect(page.locator(".count")).to_contain_text("of 1 run")
    assert rows(page) == ["Train 10"]
    page.get_by_text("More filters").click()
    page.locator("#filter").fill("nonsense = 1")
    page.locator("#filter").blur()
    expect(page.locator("#filter-problem")).to_contain_text("nonsense")
    page.locator("#filter").fill("")
    page.locator("#filter").blur()
    expect(page.locator("#filter-problem")).to_be_empty()
    page.locator(".chip", has_text="State").click()
    expect(page.locator(".count")).to_contain_text("15 runs")
    expect(page.locator("select[name=state]")).to_have_value("")
    expect(page).to_have_url(re.compile(r"/runs\?q=train\+1$"))
    page.get_by_role("link", name="Run", exact=True).click()
    expect(page.locator("[aria-sort]")).to_contain_text("Run")
    assert rows(page)[0] == "Train 01"
    assert page.evaluate("window.same") is True

    page.go_back()
    expect(page).to_have_url(re.compile(r"/runs\?q=train\+1$"))
    expect(page.locator("#q")).to_have_value("train 1")
    expect(page.locator("[aria-sort]")).to_contain_text("Made")
    page.reload()
    expect(page.locator(".count")).to_contain_text("15 runs")
    page.get_by_role("link", name="Clear all").click()
    expect(page.locator(".count")).to_contain_text("of 60 runs")
    page.locator("[rel=next]").click()
    expect(page.locator(".count")).to_contain_text("51–60")  # noqa: RUF001 - as a range is written
    expect(page).to_have_url(re.compile(r"/runs\?page=2$"))


def test_a_run_is_noted_compared_deleted_and_brought_back(
    site: Api, context: BrowserContext
) -> None:
    page = context.new_page()
    page.goto(f"{site.url}/runs/newest")
    compare = page.get_by_role("button", name="Compare two sessions")
    expect(compare).to_be_disabled()
    for box in page.locator("input.pick").all():
        box.check()
    expect(compare).to_be_enabled()
    compare.click()
    expect(page).to_have_url(re.compile(r"/compare\?left=newest/first&right=newest/second$"))
    page.go_back()
    page.get_by_text("Change it").click()
    page.get_by_label("What others should know").fill("slow since\nhttps://example.org/y")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".prose a")).to_have_attribute("href", "https://example.org/y")
    page.get_by_label("More").click()
    page.get_by_role("link", name="Delete…").click()
    page.get_by_role("button", name="Delete the run").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The run is deleted")
    page.get_by_role("button", name="Bring it back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The newest")
    expect(page.locator(".timeline")).to_contain_text("Run brought back")


def test_the_reader_chooses_light_or_dark_and_menus_close(
    site: Api, context: BrowserContext
) -> None:
    page = context.new_page()
    page.goto(f"{site.url}/runs")
    page.locator(".top-person summary").click()
    page.get_by_label("Dark").check(force=True)
    expect(page.locator("html")).to_have_attribute("data-xh-theme", "dark")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Dark")).to_be_hidden()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-xh-theme", "dark")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_readable_on_a_phone_and_names_are_inert(
    site: Api, browser: Browser, theme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(
        viewport=NARROW,
        color_scheme=theme,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    for path in (
        "/runs?group=llama&filter=x+%3D",
        "/runs?q=nothing-at-all",
        "/runs/newest",
        ODD,
        GONE,
    ):
        page.goto(f"{site.url}{path}")
        page.get_by_role("heading").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"], path
        assert "attacked" not in page.title()
        assert page.get_by_role("heading", level=1).count() == 1, path
        assert serious(page) == [], path
    page.goto(f"{site.url}/runs")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    for width in (800, 1000):
        page.set_viewport_size({"width": width, "height": 740})
        # A name may break anywhere, but its column keeps the room for a word.
        assert page.evaluate(NARROWEST_GROUP) >= 72, width
        assert page.evaluate(MOST_LINES_OF_A_TIME) <= 2, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size(WIDE)
    for path in ("/runs", "/runs/newest"):
        page.goto(f"{site.url}{path}")
        page.get_by_role("heading").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDE["width"], path
        assert serious(page) == [], path
    context.close()
