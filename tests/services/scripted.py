"""A real HTTP server that answers what a test has written down, for the faults that no good hub shows."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from server.client import Pause
from server.client.transport import Transport


@dataclass(frozen=True)
class Scripted:
    """One answer; a status of 0 ends the connection without any."""

    status: int
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class ScriptedServer:
    """The server.

    Attributes:
        url: its address.
        answers: what it answers, in this order; the last one for good.
        requests: method and path with query of each request.
    """

    url: str
    answers: list[Scripted] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)

    def next(self) -> Scripted:
        """What the next request gets."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def refused(status: int, code: str, message: str = "No.", **detail: str) -> Scripted:
    """An error in the API's shape."""
    error = {"code": status, "status": code, "message": message, "details": [detail]}
    return Scripted(status, {"error": error})


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """A server for one test."""
    with _serve() as script:
        yield script


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the client would have waited; it does not."""
    waited: list[float] = []
    make = Transport.__init__

    def begin(
        self: Transport,
        url: str,
        token: str = "",
        *,
        patience: float,
        on_pause: Callable[[Pause], None] | None,
    ) -> None:
        make(self, url, token, patience=patience, on_pause=on_pause, sleep=waited.append)

    monkeypatch.setattr(Transport, "__init__", begin)
    return waited


@pytest.fixture(scope="module")
def scripted_for_module() -> Iterator[ScriptedServer]:
    """A server for all tests of a file."""
    with _serve() as script:
        yield script


@contextmanager
def _serve() -> Iterator[ScriptedServer]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.requests.append((self.command, self.path))
            answer = script.next()
            if answer.status:
                content = answer.body
                raw = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            self.close_connection = True

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - names of the library

        def log_message(self, format: str, *args: object) -> None:
            """Keeps standard error clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script = ScriptedServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield script
    server.shutdown()
    thread.join()
    server.server_close()
