"""The page about a session in a browser: its parts, comments on a view of XProf, both themes, a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.test_accessibility import THEMES, Theme, serious
from tests.browser.test_trace_range import RANGE_SHOWN
from tests.browser.test_trace_zoom import wait_for_view
from tests.browser.viewer import FIRST_TIME, Viewer
from tests.services.hub import DemoHub

HOST = "t1v-n-3c1f2ab0-w-1"
RANGE = (10.125, 10.25)
ATTACK = "<img src=x onerror=alert(1)>"


@pytest.fixture
def about(demo_hub: DemoHub) -> Iterator[str]:
    """Address of the page about the demo's session; what was said of it is forgotten afterwards."""
    yield f"{demo_hub.url}/runs/demo/sessions/four%20hosts"
    comments = f"{demo_hub.url}/v1/machineLearningRuns/demo/profilerSessions/four%20hosts/comments"
    for comment in httpx2.get(comments, trust_env=False).json()["comments"]:
        httpx2.delete(f"{comments}/{comment['uid']}", trust_env=False).raise_for_status()


def complaints(page: Page) -> list[str]:
    """What the browser complains about, in a list that grows."""
    noted: list[str] = []
    page.on("console", lambda said: noted.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("dialog", lambda dialog: noted.append(dialog.message))
    return noted


def test_a_comment_on_a_range_of_the_trace_opens_that_range_again(about: str, page: Page) -> None:
    shown = Viewer(page, about)
    query = {"hosts": HOST, "view_start": str(RANGE[0]), "view_end": str(RANGE[1])}
    shown.open("trace_viewer@", **query)
    wait_for_view(shown, shown.trace_frame())
    page.locator("#xh-about").click()
    panel = page.get_by_role("dialog", name="About this profile")
    with page.expect_popup() as opened:
        panel.get_by_role("link", name="Comment on this view").click()
    form = opened.value
    noted = complaints(form)
    expect(form.get_by_text(f"Trace Viewer, {HOST}, 10.125-10.25 ms")).to_be_visible()
    form.get_by_label("Comment").fill(f"{ATTACK}\nhttps://example.org/x, and 10.2-10.21 ms")
    form.get_by_role("button", name="Comment", exact=True).click()
    form.wait_for_url(re.compile(r"#comment-[0-9a-f]{32}$"))
    comment = form.locator(".comment:target")
    expect(comment.locator(".comment-text")).to_contain_text(ATTACK)
    expect(comment.get_by_role("link", name="https://example.org/x")).to_have_attribute(
        "rel", "noopener noreferrer nofollow ugc"
    )
    inside = comment.get_by_role("link", name="10.2-10.21 ms").get_attribute("href") or ""
    assert parse_qs(urlsplit(inside).query)["view_start"] == ["10.2"]
    assert comment.locator("img").count() == 0
    assert noted == []
    comment.locator(".comment-view a").click()
    again = Viewer(form, about)
    frame = again.trace_frame()
    wait_for_view(again, frame)
    found = frame.evaluate(RANGE_SHOWN)
    pixel = (RANGE[1] - RANGE[0]) / 2560
    assert abs(found["min"] - RANGE[0]) < pixel
    assert abs(found["max"] - RANGE[1]) < pixel
    # The bar of XProf leads back, and says how much was said.
    expect(form.locator("#xh-comments")).to_have_accessible_name("Comments (1)")
    share = form.locator("#xh-share")
    share.hover()
    href = share.get_attribute("href") or ""
    assert urlsplit(href).path == f"{urlsplit(about).path}/share"
    assert parse_qs(urlsplit(href).query)["view_end"] == [str(RANGE[1])]


def test_the_bar_has_room_for_its_ways(about: str, page: Page) -> None:
    shown = Viewer(page, about)
    shown.open("overview_page")
    brand = shown.wait_for("mat-toolbar").get_by_text(re.compile(r"v\d+\.\d+"))
    for width in (320, 600, 700, 860, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 700})
        box = brand.bounding_box()
        assert box is not None
        boxes = page.locator("#xh-bar > :is(p, button, a, details)").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect()).filter(box => box.width)"
            ".map(({left, right}) => [left, right]).sort((a, b) => a[0] - b[0])"
        )
        edges = [box["x"] + box["width"], *(edge for pair in boxes for edge in pair), width]
        assert edges == sorted(edges), width  # nothing lies over something else, or outside
        assert len(boxes) >= 2


@pytest.mark.parametrize("theme", THEMES)
def test_the_page_fills_itself_and_suits_every_reader(
    about: str, browser: Browser, theme: Theme
) -> None:
    context = browser.new_context(
        bypass_csp=True,
        color_scheme=theme,
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(FIRST_TIME)
    page = context.new_page()
    noted = complaints(page)
    page.goto(about)
    hosts = page.locator("#hosts")
    expect(hosts.get_by_text("4 hosts")).to_be_visible()
    expect(hosts.get_by_text("Good")).to_have_count(4)
    expect(hosts.get_by_role("link", name="Trace Viewer")).to_be_visible()
    for fold in page.locator("details.fold").all():
        fold.locator("summary").click()
    assert serious(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious(page) == []
    assert noted == []
    context.close()
