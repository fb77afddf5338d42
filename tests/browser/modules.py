"""Runs our browser modules by themselves, on a page that holds nothing else."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Page

from server.ui.assets import OWN_FILES

PAGE = (
    b"<!doctype html><base href='/s/token/data/plugin/profile/'>"
    b"<link rel='stylesheet' href='/theme.css'><link rel='stylesheet' href='/charts.css'><div id='box'></div>"
)


class _Handler(SimpleHTTPRequestHandler):
    """Our static files, and an empty page at `/s/...`."""

    def do_GET(self) -> None:
        if self.path.startswith("/s/"):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)
            return
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def served_modules() -> Iterator[str]:
    """Serves our static files; gives the address."""
    handler = functools.partial(_Handler, directory=str(OWN_FILES))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Modules:
    """A page in which our modules can be imported."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        page.goto(f"{url}/s/token/data/plugin/profile/")

    def run(self, script: str, argument: object = None) -> Any:
        """The value of a function's body that may use `google` and `load(module)`."""
        return self.page.evaluate(
            f"""async (argument) => {{
              const load = (name) => import(`/${{name}}`);
              await load("charts/index.js");
              {script}
            }}""",
            argument,
        )
