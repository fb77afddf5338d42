"""Opens tools of a link in a page and keeps what the browser complains about."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from urllib.parse import urlencode

from playwright.sync_api import ConsoleMessage, Dialog, Frame, Locator, Page, Request

CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No other host can be reached: whoever depends on one fails here.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

XPROF_OWN_ERRORS = re.compile(
    # XProf's navigation splits a host list that it has passed as an array itself; stock XProf logs it too.
    r"^XProf Error: TypeError: f\.split is not a function\n\s*at t\.navigateWithUrl "
)

LOADED_IN_PLACE = ("data:", "blob:", "about:")
"""Addresses that ask nobody."""

FIRST_TIME = 120_000
"""Milliseconds that a cold conversion may take on a busy machine."""


class Viewer:
    """One page that shows a link."""

    def __init__(self, page: Page, link: str) -> None:
        self.page = page
        self.base = f"{link.rstrip('/')}/data/plugin/profile/"
        self._link = link.rstrip("/")
        hub = re.escape(self._link.rpartition("/s/")[0])
        self._shared = re.compile(rf"{hub}/_assets/[0-9a-f]{{16}}/[\w-][\w./-]*")
        self.errors: list[str] = []
        """Console errors, among them violations of the policy, and uncaught exceptions."""
        self.outside: list[str] = []
        """Addresses that were asked for outside of the link's prefix and of the static files' shared path."""
        self.dialogs: list[str] = []
        page.set_default_timeout(FIRST_TIME)
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._note_request)
        page.on("dialog", self._note_dialog)

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not XPROF_OWN_ERRORS.match(message.text):
            self.errors.append(message.text)

    def _note_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def _note_request(self, request: Request) -> None:
        url = request.url
        is_inside = url.startswith((*LOADED_IN_PLACE, f"{self._link}/")) or url == self._link
        if not is_inside and not self._shared.fullmatch(url):
            self.outside.append(url)

    def open(self, tool: str, **query: str) -> None:
        """Opens a tool as a link that somebody copied would."""
        self.page.goto(f"{self.base}?{urlencode({'tag': tool, **query})}")

    def data(self, **query: str) -> object:
        """What the same page gets from the server for a tool, parsed."""
        response = self.page.request.get(f"{self.base}data?{urlencode(query)}", timeout=FIRST_TIME)
        assert response.ok, response.text()
        parsed: object = response.json()
        return parsed

    def get(self, name: str, **query: str) -> str:
        """The text of one of XProf's other answers."""
        response = self.page.request.get(f"{self.base}{name}?{urlencode(query)}")
        assert response.ok, response.text()
        return response.text()

    def wait_for(self, selector: str) -> Locator:
        """The first element that matches, once it is visible."""
        found = self.page.locator(selector).first
        found.wait_for()
        return found

    def trace_frame(self) -> Frame:
        """The trace viewer's frame, once its events are there."""
        self.wait_for("iframe[src*='trace_viewer_index']")
        # Playwright's own waiting evaluates text inside the page, which the page's policy forbids.
        deadline = time.monotonic() + FIRST_TIME / 1000
        while time.monotonic() < deadline:
            for frame in self.page.frames:
                if "trace_viewer_index" in frame.url and frame.evaluate(COUNT_EVENTS) > 0:
                    return frame
            self.page.wait_for_timeout(200)
        raise AssertionError("the trace viewer shows no events")

    def graph_frame(self) -> Frame:
        """The graph's frame, once it is drawn."""
        self.wait_for("iframe#graph-html")
        self.page.frame_locator("#graph-html").locator("svg .node").first.wait_for()
        return next(frame for frame in self.page.frames if "type=graph" in frame.url)

    def complaints(self) -> Mapping[str, list[str]]:
        """Everything that should not have happened; empty when all went well."""
        found = {"errors": self.errors, "outside": self.outside, "dialogs": self.dialogs}
        return {kind: notes for kind, notes in found.items() if notes}


COUNT_EVENTS = """() => {
  const model = document.querySelector("tf-trace-viewer")?._traceViewer?.model;
  return model ? [...model.getDescendantEvents()].length : 0;
}"""
"""Counts the events that the trace viewer's model holds."""
