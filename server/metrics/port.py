"""Metrics on a port of their own, which a network policy or firewall can open to Prometheus alone.

Whoever reaches it may not cost the process more than a few threads and files: connections are few, and none
waits long for a request or a reader.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import make_wsgi_app

from server.machine.listening import StartError
from server.metrics.process import Metrics

_MOST_CONNECTIONS = 16
_SILENT_SECONDS = 5.0
"""How long a caller may neither send nor read anything."""
_LONGEST_SECONDS = 15.0
"""How long a connection may take, however it keeps us waiting."""
_Address: TypeAlias = tuple[str, int]
logger = logging.getLogger(__name__)


class _Handler(WSGIRequestHandler):
    timeout = _SILENT_SECONDS

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: Prometheus asks all the time."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: _Address) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._places = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._begun: dict[socket.socket, float] = {}
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without looking its own name up, which may take long."""
        self.server_name, self.server_port = "", 0
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.setup_environ()

    def verify_request(self, *_request: object) -> bool:
        """Whether there is a place; else the connection is closed."""
        return self._places.acquire(blocking=False)

    def process_request_thread(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: _Address
    ) -> None:
        """Answers, and gives the place back."""
        assert isinstance(request, socket.socket)  # noqa: S101 - a server of TCP accepts nothing else
        self._begun[request] = time.monotonic()
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self._begun[request]
            self._places.release()

    def service_actions(self) -> None:
        """Called twice a second: ends what takes too long."""
        latest = time.monotonic() - _LONGEST_SECONDS
        for request, begun in list(self._begun.items()):
            if begun < latest:
                with suppress(OSError):  # it has just ended
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_request: object) -> None:
        """Whoever sent nothing, or something odd, has gone."""
        logger.debug("a request for metrics was not answered", exc_info=True)


@contextmanager
def metrics_port(metrics: Metrics, host: str, port: int) -> Iterator[None]:
    """Shows the metrics while the context lasts, from a thread of this process.

    Args:
        metrics: what is shown, at every path.
        host: address to listen on.
        port: where; 0: nowhere.

    Raises:
        StartError: the port can't be had.
    """
    if not port:
        yield
        return
    try:
        server = _Server((host, port))
    except OSError as problem:
        raise StartError(
            f"The metrics can't have port {port} of {host} (XPROF_HUB_METRICS_PORT): {problem.strerror}."
        ) from problem
    server.set_app(make_wsgi_app(metrics.registry))
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
