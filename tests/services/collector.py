"""A collector of OpenTelemetry spans: an HTTP server that decodes what hubs send it."""

from __future__ import annotations

import gzip
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class CollectedSpan:
    """A span as it arrived.

    Attributes:
        service: the process that sent it.
        parent: id of the span that it is part of, empty for none.
        start: Unix nanoseconds.
    """

    service: str
    name: str
    trace_id: str
    span_id: str
    parent: str
    attributes: dict[str, str | int]
    start: int
    end: int


@dataclass
class Collector:
    """What has arrived.

    Attributes:
        url: its address.
        bodies: everything that was sent, unpacked.
        paths: where to.
    """

    url: str
    bodies: list[bytes] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)

    def spans(self) -> list[CollectedSpan]:
        """All spans so far."""
        return [span for body in self.bodies for span in _decoded(body)]

    def wait_for(self, name: str, seconds: float = 20) -> list[CollectedSpan]:
        """All spans, once one of this name is there."""
        end = time.monotonic() + seconds
        while name not in (names := [span.name for span in self.spans()]):
            assert time.monotonic() < end, f"no span {name} among {names}"
            time.sleep(0.1)
        return self.spans()


def _decoded(body: bytes) -> Iterator[CollectedSpan]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        names = {one.key: one.value.string_value for one in resource.resource.attributes}
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield CollectedSpan(
                    names["service.name"],
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    {
                        one.key: one.value.string_value or one.value.int_value
                        for one in span.attributes
                    },
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                )


@contextmanager
def collector() -> Iterator[Collector]:
    """Listens on a free port of the loopback interface."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            made.paths.add(self.path)
            if self.path == "/v1/traces":
                made.bodies.append(body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Collector(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
