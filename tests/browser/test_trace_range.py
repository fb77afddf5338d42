"""The visible range of a trace is in the address, and an address with one opens it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Frame, Page

from tests.browser.conftest import MakeViewer
from tests.browser.reading import wait_until
from tests.browser.test_trace_zoom import ZOOM, wait_for_view
from tests.browser.viewer import Viewer

HOST = "t1v-n-3c1f2ab0-w-1"
RANGE = [10.123456789, 10.223456789]
RANGE_SHOWN = "() => document.querySelector('tf-trace-viewer').currentViewportRange"
DRAWN_FROM = """() => document.querySelector("tf-trace-viewer")._traceViewer.trackView.viewport
  .currentDisplayTransform.xViewToWorld(0)"""
SETTLING = 1000
"""Milliseconds after the first detail in which XProf sets its first window once more."""
BOUNDS = "() => document.querySelector('tf-trace-viewer')._fullBounds"


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A page of somebody else, of another width."""
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    yield context.new_page()
    context.close()


def open_range(shown: Viewer, **query: str) -> Frame:
    shown.open("trace_viewer@", hosts=HOST, **query)
    frame = shown.trace_frame()
    wait_for_view(shown, frame)
    return frame


def test_zoomed_range_opens_elsewhere_within_a_pixel(
    demo_link: str, viewer: MakeViewer, stranger: Page
) -> None:
    shown = viewer(demo_link)
    frame = open_range(shown)
    entries = shown.page.evaluate("history.length")
    assert "view_start" not in shown.page.url
    frame.evaluate(ZOOM, RANGE)
    shown.page.wait_for_url(re.compile("view_start=10.12.*view_end=10.22"))
    assert shown.page.evaluate("history.length") == entries
    other = Viewer(stranger, demo_link)
    with stranger.expect_request(re.compile("data.*start_time_ms")) as asked:
        stranger.goto(shown.page.url)
    # The detail of the range is asked for at once, and the range itself is no part of the request.
    query = parse_qs(urlsplit(asked.value.url).query)
    assert float(query["start_time_ms"][0]) < RANGE[0] < RANGE[1] < float(query["end_time_ms"][0])
    assert "view_start" not in query
    frame = other.trace_frame()
    wait_for_view(other, frame)
    pixel = (RANGE[1] - RANGE[0]) / 2560
    found = frame.evaluate(RANGE_SHOWN)
    assert abs(found["min"] - RANGE[0]) < pixel
    assert abs(found["max"] - RANGE[1]) < pixel
    assert other.complaints() == {}


def test_the_whole_trace_needs_no_range(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    with shown.page.expect_response(re.compile("data.*start_time_ms")) as detail:
        frame = open_range(shown, view_start="10", view_end="11")
    detail.value.finished()
    shown.page.wait_for_timeout(SETTLING)
    assert "view_start=10&view_end=11" in shown.page.url
    bounds = frame.evaluate(BOUNDS)

    def is_whole() -> bool | None:
        """Zooms out, once more where a busy machine has set the first window only after that."""
        frame.evaluate(ZOOM, [bounds["min"] - 1, bounds["max"] + 1])
        shown.page.wait_for_timeout(SETTLING)
        return "view_start" not in shown.page.url or None

    wait_until(shown.page, is_whole)


def test_a_range_beside_the_trace_shows_the_trace(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    frame = open_range(shown, view_start="90000", view_end="90001")
    shown.page.wait_for_url(lambda url: "view_start" not in url)
    assert abs(frame.evaluate(DRAWN_FROM) - frame.evaluate(BOUNDS)["min"]) < 1e-6


@pytest.mark.parametrize("start", ["NaN", "<img>", "12"])
def test_a_range_that_is_none_is_passed_over(
    demo_link: str, viewer: MakeViewer, start: str
) -> None:
    shown = viewer(demo_link)
    shown.open("trace_viewer@", hosts=HOST, view_start=start, view_end="11")
    source = shown.wait_for("iframe[src*='trace_viewer_index']").get_attribute("src") or ""
    assert "view_start" not in dict(parse_qsl(urlsplit(source).query))
