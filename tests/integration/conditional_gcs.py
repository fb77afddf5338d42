"""A tiny Cloud Storage that keeps generations and conditions, which the emulator does not.

Shapes: https://cloud.google.com/storage/docs/json_api/v1/objects and
https://cloud.google.com/storage/docs/request-preconditions.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4

import google_crc32c
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

_OBJECTS = "/storage/v1/b/bucket/o/"


@dataclass
class ConditionalGcs:
    """State of the server.

    Attributes:
        objects: generation and content by name, in bucket `bucket`.
        refusal: status that every request gets, or 0.
    """

    objects: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    refusal: int = 0
    url: str = ""
    generation: int = 100
    sessions: dict[str, tuple[str, str | None, bytes]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def client(self) -> storage.Client:
        """A real client of this server."""
        return storage.Client(
            project="test",
            credentials=AnonymousCredentials(),
            client_options={"api_endpoint": self.url},
        )

    def meets(self, name: str, condition: str | None) -> bool:
        """Whether an object is in the generation that a request expects; 0 means that it is not there."""
        current = self.objects.get(name, (0, b""))[0]
        return condition is None or int(condition) == current

    def store(self, name: str, condition: str | None, content: bytes) -> tuple[int, object]:
        """Writes an object if the condition holds; status and body."""
        if not self.meets(name, condition):
            return 412, {"error": {"code": 412, "message": "conditionNotMet"}}
        self.generation += 1
        self.objects[name] = (self.generation, content)
        return 200, self.resource(name)

    def resource(self, name: str) -> dict[str, str]:
        """An object's metadata."""
        generation, content = self.objects[name]
        checksum = base64.b64encode(google_crc32c.value(content).to_bytes(4, "big")).decode()
        return {
            "name": name,
            "bucket": "bucket",
            "size": str(len(content)),
            "generation": str(generation),
            "crc32c": checksum,
            "timeCreated": "2026-01-31T12:00:00Z",
        }

    def read(self, name: str, generation: str | None) -> bytes | None:
        """An object's content in a generation, or None."""
        current, content = self.objects.get(name, (0, b""))
        return content if current and generation in (None, str(current)) else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: ConditionalGcs

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with self.state.lock:
            status, answer, headers = self._answer(parts.path, query, body)
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815

    def _answer(
        self, path: str, query: dict[str, str], body: bytes
    ) -> tuple[int, object, dict[str, str]]:
        gcs = self.state
        condition = query.get("ifGenerationMatch")
        if gcs.refusal:
            return gcs.refusal, {"error": {"code": gcs.refusal, "message": "refused"}}, {}
        if path == "/upload/storage/v1/b/bucket/o":
            return self._upload(query, body, condition)
        name = path.removeprefix(_OBJECTS)
        if name.endswith("/compose"):
            return (*self._compose(unquote(name.removesuffix("/compose")), body, condition), {})
        if "/rewriteTo/" in name:
            source, target = (unquote(part) for part in name.split("/rewriteTo/b/bucket/o/"))
            content = gcs.read(source, query.get("sourceGeneration"))
            if content is None:
                return 404, {"error": {"code": 404, "message": "No such object"}}, {}
            status, resource = gcs.store(target, condition, content)
            size = str(len(content))
            done = {"done": True, "resource": resource, "totalBytesRewritten": size}
            return status, {**done, "objectSize": size} if status == 200 else resource, {}
        name = unquote(name)
        if gcs.read(name, query.get("generation")) is None:
            return 404, {"error": {"code": 404, "message": "No such object"}}, {}
        if self.command == "DELETE":
            if not gcs.meets(name, condition):
                return 412, {"error": {"code": 412, "message": "conditionNotMet"}}, {}
            del gcs.objects[name]
            return 204, b"", {}
        return 200, gcs.resource(name), {}

    def _upload(
        self, query: dict[str, str], body: bytes, condition: str | None
    ) -> tuple[int, object, dict[str, str]]:
        gcs = self.state
        if self.command == "POST":
            session = uuid4().hex
            name = query.get("name") or json.loads(body)["name"]
            gcs.sessions[session] = (name, condition, b"")
            url = f"{gcs.url}/upload/storage/v1/b/bucket/o?upload_id={session}"
            return 200, {}, {"Location": url}
        session = query["upload_id"]
        name, expected, content = gcs.sessions[session]
        content += body
        gcs.sessions[session] = (name, expected, content)
        if self.headers["Content-Range"].endswith("/*"):
            return 308, b"", {"Range": f"bytes=0-{len(content) - 1}"}
        return (*gcs.store(name, expected, content), {})

    def _compose(self, target: str, body: bytes, condition: str | None) -> tuple[int, object]:
        sources = [
            self.state.read(source["name"], str(source["generation"]))
            for source in json.loads(body)["sourceObjects"]
        ]
        if any(source is None for source in sources):
            return 404, {"error": {"code": 404, "message": "No such object"}}
        return self.state.store(target, condition, b"".join(source or b"" for source in sources))

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def serve_conditional_gcs() -> Iterator[ConditionalGcs]:
    """Serves an empty bucket called `bucket`."""
    state = ConditionalGcs()
    handler = type("Handler", (_Handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
