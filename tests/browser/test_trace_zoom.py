"""Zooming in XProf's trace viewer, whose requests the server widens (loader.trace_window)."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Frame

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import Viewer

HOST = "t1v-n-3c1f2ab0-w-0"
ZOOM = """([start, end]) => {
  const viewer = document.querySelector("tf-trace-viewer")._traceViewer;
  const view = viewer.trackView;
  const transform = view.viewport.currentDisplayTransform.clone();
  transform.xSetWorldBounds(start, end, view.modelTrackContainer_.canvas.width);
  view.viewport.setDisplayTransformImmediately(transform);
}"""
"""Shows a window of milliseconds, as the wheel does."""
SHOWN = """([start, end]) => {
  const viewer = document.querySelector("tf-trace-viewer")._traceViewer;
  const range = viewer.trackView.viewport.currentDisplayTransform;
  const slices = [...viewer.model.getDescendantEvents()].filter((event) => event.duration > 0);
  const inside = slices.filter((event) => event.start < end && event.start + event.duration > start);
  return {
    from: range.xViewToWorld(0),
    names: inside.map((event) => `${event.title} ${event.start.toFixed(6)}`).sort(),
  };
}"""


HAS_VIEW = """() => {
  const trace = document.querySelector("tf-trace-viewer");
  return !trace._isLoading && trace.currentViewportRange !== undefined;
}"""
"""Whether the page has set its first window, which it does some time after it has the events."""


def wait_for_view(shown: Viewer, frame: Frame) -> None:
    for _ in range(600):
        if frame.evaluate(HAS_VIEW):
            return
        shown.page.wait_for_timeout(100)
    raise AssertionError("the trace viewer sets no window")


def zoomed(shown: Viewer, frame: Frame, window: list[float]) -> str:
    """Zooms and waits for the data; its address."""
    with shown.page.expect_response(re.compile("data.*start_time_ms")) as answer:
        frame.evaluate(ZOOM, window)
    assert answer.value.ok
    answer.value.finished()
    wait_for_view(shown, frame)
    return answer.value.url


def drawn(answer: str, window: list[float]) -> list[str]:
    """Names and beginnings of the answer's events in the window, as the page writes them."""
    start, end = window
    return sorted(
        f"{event['name']} {event['ts'] / 1000:.6f}"
        for event in json.loads(answer)["traceEvents"]
        if event.get("ph") == "X"
        and event.get("dur", 0) > 0
        and event["ts"] / 1000 < end
        and (event["ts"] + event["dur"]) / 1000 > start
    )


def test_zoom_shows_its_window_with_all_its_events_once(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.open("trace_viewer@", hosts=HOST)
    frame = shown.trace_frame()
    wait_for_view(shown, frame)
    window = [10.0, 10.2]
    url = zoomed(shown, frame, window)
    query = parse_qs(urlsplit(url).query)
    # XProf's page asks for three times its screen.
    assert float(query["start_time_ms"][0]) < window[0] < window[1] < float(query["end_time_ms"][0])
    page = frame.evaluate(SHOWN, window)
    assert abs(page["from"] - window[0]) < 1e-6
    assert len(page["names"]) > 100
    assert page["names"] == drawn(shown.page.request.get(url).text(), window)
    assert shown.complaints() == {}
