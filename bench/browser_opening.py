"""One opening of a page in Chromium: what was transferred, and when its first figures could be seen.

Times run from the start of the navigation until the frame after the one in which the text or the events were
in the page, which is when they are on the screen. Bytes and requests are the browser's own count of what came
over the network, headers included; what it took from its cache counts nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import BrowserContext, CDPSession, Page, Playwright

from bench.contenders import RUN

OVERVIEW, TRACE = "overview", "trace"
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Other hosts fail at once instead of after a time-out, which would be held against whoever asks them.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_LONGEST_SECONDS = 60.0
_QUIET_SECONDS = 1.0
_LOOK_MILLISECONDS = 50

_WATCH = """
(() => {
  const seen = {};
  const top = window.top;
  if (window === top) window.xhBench = seen;
  const shown = (name, isThere) => {
    if (name in seen || !isThere()) return;
    seen[name] = null;
    const at = () => performance.timeOrigin + performance.now() - top.performance.timeOrigin;
    requestAnimationFrame(() => setTimeout(() => { top.xhBench[name] = at(); }));
  };
  const figure = (place) => () => /\\d\\.\\d+ ms/.test(document.querySelector(place)?.textContent ?? "");
  const events = () => {
    const viewer = document.querySelector("tf-trace-viewer");
    return Boolean(viewer?._traceViewer?.model && !viewer._isLoading && viewer.currentViewportRange);
  };
  const look = () => {
    if (document.body) {
      shown("glance", figure("#xh-glance dd"));
      shown("overview", figure("overview-page performance-summary"));
      shown("trace", events);
    }
    setTimeout(look, 4);
  };
  look();
})();
"""
"""Notes in each frame when figures or events are there, by the clock of the whole page."""


@dataclass(frozen=True)
class Opening:
    """What one opening cost.

    Attributes:
        milliseconds: until the first figure of an overview, or the first events of a trace, could be seen.
        own_milliseconds: until XProf's own page showed them.
        size: bytes that came over the network.
        data_size: of these, the tool's own data.
        requests: answers that came over the network.
        foreign: requests for other hosts, all of which failed.
    """

    milliseconds: float
    own_milliseconds: float
    size: int
    data_size: int
    requests: int
    foreign: int


@dataclass
class _Traffic:
    """The browser's count for one page."""

    addresses: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    last: float = field(default_factory=time.monotonic)

    def follow(self, session: CDPSession) -> None:
        """Counts from now on."""
        session.on("Network.requestWillBeSent", self._began)
        session.on("Network.loadingFinished", self._ended)
        session.send("Network.enable")

    def _began(self, event: Mapping[str, object]) -> None:
        request = event["request"]
        if isinstance(request, dict):
            self.addresses[str(event["requestId"])] = str(request["url"])
            self.last = time.monotonic()

    def _ended(self, event: Mapping[str, object]) -> None:
        size = event["encodedDataLength"]
        if isinstance(size, int | float):
            self.sizes[str(event["requestId"])] = int(size)
            self.last = time.monotonic()


@contextmanager
def browser_profile(
    playwright: Playwright, program: Path, folder: Path
) -> Iterator[BrowserContext]:
    """A browser with a profile of its own in a folder, as a person has one: its caches last as long."""
    context = playwright.chromium.launch_persistent_context(
        folder,
        executable_path=program,
        args=list(_ARGUMENTS),
        viewport={"width": 1440, "height": 900},
    )
    context.add_init_script(_WATCH)
    try:
        yield context
    finally:
        context.close()


def open_page(context: BrowserContext, base: str, page: str, host: str) -> Opening:
    """Opens a page in a new tab, waits until it rests, and closes it.

    Args:
        context: the browser.
        base: address of the session's XProf, up to and with `/data/plugin/profile`.
        page: `overview` or `trace`.
        host: the host whose trace is opened.

    Raises:
        TimeoutError: it shows nothing.
    """
    query = {"run": RUN, "tag": "trace_viewer@", "host": host, "hosts": host}
    address = f"{base}/?{urlencode(query)}" if page == TRACE else f"{base}/"
    tab = context.new_page()
    try:
        traffic = _Traffic()
        traffic.follow(context.new_cdp_session(tab))
        tab.goto(address, wait_until="commit")
        own = _wait_until_shown(tab, page, traffic)
        seen = tab.evaluate("xhBench.glance")
    finally:
        tab.close()
    return _opening(traffic, base, seen if page == OVERVIEW and seen else own, own)


def _wait_until_shown(tab: Page, page: str, traffic: _Traffic) -> float:
    """The time at which XProf showed the page, once nothing more is transferred."""
    deadline = time.monotonic() + _LONGEST_SECONDS
    while time.monotonic() < deadline:
        shown = tab.evaluate("name => window.xhBench?.[name] ?? null", page)
        if shown is not None and time.monotonic() - traffic.last > _QUIET_SECONDS:
            return float(shown)
        tab.wait_for_timeout(_LOOK_MILLISECONDS)
    raise TimeoutError(f"{tab.url} shows no {page} within {_LONGEST_SECONDS:.0f} s")


def _opening(traffic: _Traffic, base: str, seen: float, own: float) -> Opening:
    """The figures of an opening."""
    data = f"{urlsplit(base).path}/data"
    place = urlsplit(base).netloc
    addresses = {name: urlsplit(address) for name, address in traffic.addresses.items()}
    local = {
        name: size
        for name, size in traffic.sizes.items()
        if size > 0 and name in addresses and addresses[name].netloc == place
    }
    return Opening(
        milliseconds=seen,
        own_milliseconds=own,
        size=sum(local.values()),
        data_size=sum(size for name, size in local.items() if addresses[name].path == data),
        requests=len(local),
        foreign=sum(
            address.scheme in {"http", "https"} and address.netloc != place
            for address in addresses.values()
        ),
    )
