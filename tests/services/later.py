"""Stands between a client and a hub, and makes creations of runs take time, as they do at Google.

A creation is answered by an operation that is not done, also where the run is there already: then the
operation fails. What became of one that did not is asked of the hub itself.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

from tests.services.api import Api

_ALREADY_EXISTS = 6
"""Of `google.rpc.Code`."""


@contextmanager
def answers_later(api: Api) -> Iterator[tuple[str, list[str]]]:
    """Address of a hub whose creations take time, and the calls that it got, as `GET /path`."""
    calls: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(api, calls)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", calls
        finally:
            server.shutdown()
            thread.join()


def _handler(api: Api, calls: list[str]) -> type[BaseHTTPRequestHandler]:
    failures: dict[str, dict[str, Any]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass_on()

        def do_PATCH(self) -> None:
            self._pass_on()

        def do_POST(self) -> None:
            self._pass_on()

        def log_message(self, format: str, *values: object) -> None:
            """Says nothing."""

        def _pass_on(self) -> None:
            calls.append(f"{self.command} {self.path}")
            failed = failures.get(self.path.partition("?")[0].removeprefix("/v1alpha/"))
            if failed is not None:
                self._answer(200, failed)
                return
            kept = ("authorization", "content-type")
            headers = {name: value for name, value in self.headers.items() if name.lower() in kept}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = httpx2.request(
                self.command, f"{api.url}{self.path}", headers=headers, content=body, timeout=30
            )
            status, content = answer.status_code, answer.json()
            is_creation = self.path.partition("?")[0].endswith("/machineLearningRuns")
            if self.command == "POST" and is_creation:
                status, content = _later(status, content, failures)
            self._answer(status, content)

        def _answer(self, status: int, content: dict[str, Any]) -> None:
            sent = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

    return Handler


def _later(
    status: int, content: dict[str, Any], failures: dict[str, dict[str, Any]]
) -> tuple[int, dict[str, Any]]:
    """The answer as one that is not there yet; what failed is kept by the name of its operation."""
    if status == 200:
        return 200, {"name": content["name"], "metadata": content["metadata"], "done": False}
    if status != 409:
        return status, content
    details = content["error"]["details"]
    parent = details[0]["resourceName"].partition("/machineLearningRuns/")[0]
    name = f"{parent}/operations/operation-{len(failures)}"
    error = {"code": _ALREADY_EXISTS, "message": "already exists", "details": details}
    failures[name] = {"name": name, "done": True, "error": error}
    return 200, {"name": name, "done": False}
