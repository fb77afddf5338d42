"""Metrics on a port of their own, which a network policy or firewall can open to Prometheus alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import start_http_server

from server.listening import StartError
from server.metrics import Metrics


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
        server, thread = start_http_server(port, host, metrics.registry)
    except OSError as problem:
        raise StartError(
            f"The metrics can't have port {port} of {host} (XPROF_HUB_METRICS_PORT): {problem.strerror}."
        ) from problem
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
