"""A tiny server that answers as Cloud Storage does where the emulator can't.

The emulator knows no pages, no generations at download, no permissions and no failures. Shapes of the
answers: https://cloud.google.com/storage/docs/json_api/v1/status-codes and .../objects/list.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import google_crc32c
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

PAGE = 3
"""Entries in one page of a listing, unless a test says otherwise."""


@dataclass
class Request:
    """One request as the server got it.

    Attributes:
        path: decoded path.
        query: decoded first values of the query.
        byte_range: first and last byte asked for, or None.
    """

    path: str
    query: dict[str, str]
    byte_range: tuple[int, int] | None


@dataclass
class Answer:
    """What the server says; `cut` ends the body after so many bytes, `hang` is waited for first."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: threading.Event | None = None


@dataclass
class FakeGcs:
    """State of the server.

    Attributes:
        page: entries in one page of a listing.
        objects: content by object name in bucket `bucket`; the generation is always 7.
        requests: what was asked.
        trouble: asked first about each request; None answers as a healthy store.
    """

    page: int = PAGE
    objects: dict[str, bytes] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    trouble: Callable[[Request], Answer | None] = lambda request: None
    url: str = ""

    def client(self) -> storage.Client:
        """A real client of this server."""
        return storage.Client(
            project="test",
            credentials=AnonymousCredentials(),
            client_options={"api_endpoint": self.url},
        )

    def answer(self, request: Request) -> Answer:
        """What a healthy store with these objects says."""
        if request.path == "/storage/v1/b/bucket":
            # The client asks for this by itself, in the background; objectViewer may not see it.
            return error(403, "no storage.buckets.get access")
        self.requests.append(request)
        if (trouble := self.trouble(request)) is not None:
            return trouble
        if request.path == "/storage/v1/b/bucket/o":
            return self._list(request)
        name = request.path.partition("/b/bucket/o/")[2]
        content = self.objects.get(name)
        if content is None or request.query.get("generation", "7") != "7":
            return error(404, f"No such object: bucket/{name}")
        if request.query.get("alt") == "media":
            return self._media(request, content)
        return as_json(
            {"name": name, "size": str(len(content)), "generation": "7"} | hashes(content)
        )

    def _media(self, request: Request, content: bytes) -> Answer:
        if request.byte_range is None:
            return Answer(200, content, {"X-Goog-Hash": f"crc32c={hashes(content)['crc32c']}"})
        first, last = request.byte_range
        return Answer(206, content[first : last + 1], {"Content-Range": f"bytes {first}-{last}/*"})

    def _list(self, request: Request) -> Answer:
        prefix, after = request.query.get("prefix", ""), request.query.get("pageToken", "")
        entries = sorted(
            {
                prefix + rest.partition("/")[0] + ("/" if "/" in rest else "")
                for name in self.objects
                if name.startswith(prefix) and name >= request.query.get("startOffset", "")
                for rest in [name[len(prefix) :]]
            }
        )
        most = min(self.page, int(request.query.get("maxResults", self.page)))
        page = [entry for entry in entries if entry > after][:most]
        body: dict[str, object] = {
            "items": [
                {"name": entry, "size": str(len(self.objects[entry])), "generation": "7"}
                for entry in page
                if entry in self.objects
            ],
            "prefixes": [entry for entry in page if entry not in self.objects],
        }
        if page and page[-1] != entries[-1]:
            body["nextPageToken"] = page[-1]
        return as_json(body)


def as_json(body: object) -> Answer:
    """A JSON answer."""
    return Answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})


def error(status: int, message: str) -> Answer:
    """An error as the JSON API writes it."""
    body = {"error": {"code": status, "message": message, "errors": [{"message": message}]}}
    return Answer(status, json.dumps(body).encode(), {"Content-Type": "application/json"})


def hashes(content: bytes) -> dict[str, str]:
    """The checksum in an object's metadata."""
    checksum = google_crc32c.extend(0, content)
    return {"crc32c": base64.b64encode(checksum.to_bytes(4, "big")).decode()}


class _Server(ThreadingHTTPServer):
    """Says nothing when a client goes away in the middle, which is what some tests are about."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def serving() -> Iterator[FakeGcs]:
    """Runs a server on a free loopback port."""
    state = FakeGcs()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            asked = self.headers.get("Range", "").removeprefix("bytes=").split("-")
            wanted = (int(asked[0]), int(asked[1])) if len(asked) == 2 else None
            reply = state.answer(Request(unquote(parts.path), query, wanted))
            if reply.hang is not None:
                reply.hang.wait(60)
            self.send_response(reply.status)
            for key, value in reply.headers.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body[: reply.cut])
            self.close_connection = self.close_connection or reply.cut is not None

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
