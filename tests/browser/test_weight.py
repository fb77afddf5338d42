"""What opening a link moves: few requests, none twice, and the second time next to nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import MakeViewer

OVERVIEW_FIRST, OVERVIEW_AGAIN = 600_000, 10_000
TRACE_FIRST, TRACE_AGAIN = 1_300_000, 10_000
"""Bytes that an open may move, with headers; for the trace besides its data."""
MOST_REQUESTS = 22


@dataclass
class Traffic:
    """What a page and its frames have asked for, counted by the browser itself, headers included.

    Attributes:
        bytes: received over the network by address; nothing for what came from the cache.
        requests: how often an address was asked for, also of the cache.
        answers: how often one came over the network.
        statuses: of the last answer that came over the network; 0 if none did.
    """

    bytes: Counter[str] = field(default_factory=Counter)
    requests: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    statuses: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        self.bytes.clear()
        self.requests.clear()
        self.answers.clear()
        self.statuses.clear()

    def static(self) -> list[str]:
        """Static files that were sent."""
        return [url for url, size in self.bytes.items() if "/_assets/" in url and size]

    def data(self) -> list[str]:
        return [url for url in self.requests if "/data?" in url]

    def besides(self, left_out: list[str]) -> int:
        return sum(size for url, size in self.bytes.items() if url not in left_out)


def watch(page: Page) -> Traffic:
    traffic = Traffic()
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    addresses: dict[str, str] = {}
    sent: dict[str, int] = {}

    def began(event: dict[str, dict[str, str]]) -> None:
        url = event["request"]["url"]
        parts = urlsplit(url)
        # How far a first conversion is gets asked as often as that takes.
        if parts.scheme in {"http", "https"} and "/progress/" not in parts.path:
            addresses[str(event["requestId"])] = url
            traffic.requests[url] += 1

    def answered(event: dict[str, int]) -> None:
        # May come before the request itself is told of.
        sent[str(event["requestId"])] = event["statusCode"]

    def ended(event: dict[str, int]) -> None:
        if url := addresses.get(str(event["requestId"])):
            traffic.bytes[url] += event["encodedDataLength"]
            traffic.statuses[url] = sent.get(str(event["requestId"]), 0)
            traffic.answers[url] += event["encodedDataLength"] > 0

    session.on("Network.requestWillBeSent", began)
    # What came over the network: the page itself is told 200 of what is not modified.
    session.on("Network.responseReceivedExtraInfo", answered)
    session.on("Network.loadingFinished", ended)
    return traffic


@pytest.fixture
def traffic(page: Page) -> Traffic:
    return watch(page)


def test_the_overview(demo_link: str, viewer: MakeViewer, traffic: Traffic) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    shown.wait_for("overview-page, overview")
    shown.page.wait_for_load_state("networkidle")
    assert traffic.requests.total() <= MOST_REQUESTS
    # XProf itself asks for its options twice.
    twice = [url for url, count in traffic.answers.items() if count > 1]
    assert [url for url in twice if not url.endswith("/config")] == []
    assert traffic.besides([]) <= OVERVIEW_FIRST, traffic.bytes.most_common(12)

    shown.page.goto("about:blank")
    traffic.clear()
    shown.open("overview_page")
    shown.wait_for("overview-page, overview")
    shown.page.wait_for_load_state("networkidle")
    assert traffic.static() == []
    assert traffic.besides([]) <= OVERVIEW_AGAIN, traffic.bytes.most_common(12)
    assert shown.complaints() == {}


def test_the_trace_viewer(demo_link: str, viewer: MakeViewer, traffic: Traffic) -> None:
    shown = viewer(demo_link)
    shown.open("trace_viewer@")
    shown.trace_frame()
    data = traffic.data()
    assert data
    assert traffic.besides(data) <= TRACE_FIRST, traffic.bytes.most_common(12)

    shown.page.goto("about:blank")
    traffic.clear()
    shown.open("trace_viewer@")
    shown.trace_frame()
    assert traffic.static() == []
    assert traffic.data() == data
    assert [traffic.statuses.get(url) for url in data] == [304] * len(data)
    assert traffic.besides(traffic.data()) <= TRACE_AGAIN, traffic.bytes.most_common(12)
    assert shown.complaints() == {}
