"""A link in a frame of another site: shown where the administrator allows it, refused elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Frame, Page

from tests.browser.reading import wait_until
from tests.browser.viewer import COUNT_EVENTS, FIRST_TIME
from tests.services.hub import HubFactory, share
from tests.services.processes import free_port


class _Wiki(BaseHTTPRequestHandler):
    """A page of another site that shows the address in its query in a frame."""

    def do_GET(self) -> None:
        shown = parse_qs(urlsplit(self.path).query).get("show", [""])[0]
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f'<iframe id="shown" width="1400" height="850" src="{shown}">'.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def wiki_on(port: int) -> Iterator[str]:
    """Serves such pages; gives their origin, which is another site than the hub's."""
    with ThreadingHTTPServer(("127.0.0.1", port), _Wiki) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{port}"
        server.shutdown()


@pytest.fixture(scope="module")
def wiki() -> Iterator[str]:
    """The origin that may show links."""
    with wiki_on(free_port()) as origin:
        yield origin


@pytest.fixture(scope="module")
def link(wiki: str, tmp_path_factory: pytest.TempPathFactory, small_session: Path) -> Iterator[str]:
    """A link that the wiki may show."""
    factory = HubFactory(tmp_path_factory.mktemp("embedded-hub"))
    settings = {
        "XPROF_HUB_STORAGE_ROOTS": str(small_session),
        "XPROF_HUB_FRAME_ANCESTORS": f"self {wiki}",
    }
    try:
        yield share(factory.start(settings).url, "demo", "two hosts", small_session)
    finally:
        factory.stop_all()


def frame_with(page: Page, ready: Callable[[Frame], bool]) -> Frame | None:
    """The first frame that is ready, or None if none is in time."""
    for _ in range(FIRST_TIME // 200):
        for frame in page.frames[1:]:
            if ready(frame):
                return frame
        page.wait_for_timeout(200)
    return None


def test_a_wiki_shows_the_trace_viewer_with_its_inner_frame(
    page: Page, wiki: str, link: str
) -> None:
    """The address leads through the link's redirect, to a page with a frame, all under two policies."""
    page.goto(f"{wiki}/?show={link}?tag=trace_viewer@")
    trace = frame_with(
        page, lambda frame: "trace_viewer_index" in frame.url and frame.evaluate(COUNT_EVENTS) > 0
    )
    assert trace is not None
    assert trace.parent_frame is not None
    assert trace.parent_frame.parent_frame is page.main_frame


def test_a_wiki_shows_why_a_link_opens_nothing(page: Page, wiki: str, link: str) -> None:
    page.goto(f"{wiki}/?show={link}x")
    heading = page.frame_locator("#shown").locator("h1")
    assert heading.inner_text() == "There is nothing at this address"


def test_another_site_shows_nothing(page: Page, link: str) -> None:
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    with wiki_on(free_port()) as elsewhere:
        page.goto(f"{elsewhere}/?show={link}/data/plugin/profile/")
        wait_until(page, lambda: any("frame-ancestors" in text for text in refused) or None)
        frame = page.frames[1]
        assert frame.locator("app").count() == 0
