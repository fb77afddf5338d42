"""The first glance in the browser: XProf's own figures in XProf's own places, until XProf shows them."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import Viewer
from tests.services.hub import DemoHub, share

OVERVIEW = {"tag": "overview_page", "host": "ALL_HOSTS"}
PLACES = """(selector) => [...document.querySelectorAll(selector)].flatMap((element) => {
  const text = element.textContent.trim();
  const range = document.createRange();
  range.selectNodeContents(element);
  const { x, y } = range.getBoundingClientRect();
  return text ? [[text, Math.round(x), Math.round(y)]] : [];
})"""
GLANCE = "#xh-glance dt > b, #xh-glance dd, #xh-glance .xh-glance-note"
XPROF = ", ".join(
    f"performance-summary {place}"
    for place in ("b", "td > div:not(.description)", ".description > span")
)


def open_held(shown: Viewer) -> list[Route]:
    """Opens the overview and holds XProf's bundle back; the routes that let it go on."""
    held: list[Route] = []
    # Playwright marks the function that it is given, which a method of a list doesn't allow.
    shown.page.route("**/bundle.js", lambda route: held.append(route))  # noqa: PLW0108
    shown.page.goto(shown.base, wait_until="commit")
    shown.wait_for("#xh-glance dd")
    return held


def test_figures_are_xprofs_and_stand_where_xprof_shows_them(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    data = json.loads(json.dumps(shown.data(**OVERVIEW)))
    held = open_held(shown)
    assert shown.page.locator("#xh-glance dd").first.text_content() == (
        f"{data[1]['p']['steptime_ms_average']} ms"
    )
    first = shown.page.evaluate(PLACES, GLANCE)
    for route in held:
        route.continue_()
    shown.wait_for("performance-summary .item-container")
    shown.page.locator("#xh-glance").wait_for(state="detached")
    final = shown.page.evaluate(PLACES, XPROF)
    assert len(first) > 10
    moved = [
        (*place, after)
        for place in first
        for after in [[other for other in final if near(place, other)]]
        if len(after) != 1
    ]
    assert moved == []
    assert shown.complaints() == {}


def near(first: list[object], second: list[object]) -> bool:
    """Whether two texts are the same and stand at the same place, to a pixel or two."""
    (text, *place), (other_text, *other_place) = first, second
    return text == other_text and all(
        isinstance(a, int) and isinstance(b, int) and abs(a - b) <= 2
        for a, b in zip(place, other_place, strict=True)
    )


def test_a_notice_takes_the_glance_away(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.data(**OVERVIEW)
    error = {"error": {"message": "It went wrong.", "details": []}}
    shown.page.route(re.compile(r"/data\?"), lambda route: route.fulfill(status=500, json=error))
    for route in open_held(shown):
        route.continue_()
    shown.wait_for(".xh-notice")
    expect(shown.page.locator("#xh-glance")).to_have_count(0)


def test_what_xprof_asks_for_first_is_asked_once(demo_hub: DemoHub, viewer: MakeViewer) -> None:
    """XProf's requests take what the page has asked for already, at exactly these addresses."""
    shown = viewer(share(demo_hub.url, "plain", "plain", demo_hub.session))
    asked: list[str] = []
    shown.page.on("request", lambda request: asked.append(request.url.removeprefix(shown.base)))
    notes: list[str] = []
    shown.page.on("console", lambda message: notes.append(message.text))
    shown.page.goto(shown.base)
    early = shown.page.evaluate(
        "() => [...document.querySelectorAll('link[rel=preload][as=fetch]')].map(({ href }) => href)"
    )
    shown.wait_for("performance-summary .item-container")
    assert len(early) == 4
    for address in early:
        assert asked.count(address.removeprefix(shown.base)) == 1
    data = [address for address in asked if address.startswith("data?")]
    assert data == [early[-1].removeprefix(shown.base)]
    assert [note for note in notes if "preload" in note] == []
