"""Metrics on a port of their own."""

from __future__ import annotations

import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress

import pytest

from server.machine.listening import StartError
from server.metrics.port import metrics_port
from server.metrics.process import Metrics
from tests.services.processes import free_port, port_answers


def test_metrics_are_shown_as_long_as_the_process_serves() -> None:
    metrics, port = Metrics(), free_port()
    metrics.record_prewarm("done")
    address = f"http://127.0.0.1:{port}/metrics"
    with metrics_port(metrics, "127.0.0.1", port), urllib.request.urlopen(address) as answer:
        assert 'xprof_hub_prewarms_total{outcome="done"} 1.0' in answer.read().decode()
    assert not port_answers(port)


def test_a_port_that_is_taken_is_said_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = rf"port {port} of 127\.0\.0\.1 \(XPROF_HUB_METRICS_PORT\): Address already in use\."
        with pytest.raises(StartError, match=told), metrics_port(Metrics(), "127.0.0.1", port):
            pass


def test_without_a_port_there_is_none() -> None:
    with metrics_port(Metrics(), "127.0.0.1", 0):
        pass


def test_slow_callers_cost_a_few_threads_at_most() -> None:
    """Whoever reaches the port and never ends a request keeps nothing of the hub busy for long."""
    port = free_port()
    with metrics_port(Metrics(), "127.0.0.1", port), ExitStack() as slow:
        before = threading.active_count()
        for _ in range(40):
            caller = slow.enter_context(socket.create_connection(("127.0.0.1", port)))
            with suppress(OSError):  # it may have been closed already
                caller.sendall(b"GET /")
        last = slow.enter_context(socket.create_connection(("127.0.0.1", port), 20))
        # No place is left, so that it is closed instead of answered.
        assert last.recv(1) == b""
        assert threading.active_count() - before <= 16


def test_a_caller_who_says_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.metrics.port._Handler.timeout", 0.2)
    port = free_port()
    with (
        metrics_port(Metrics(), "127.0.0.1", port),
        socket.create_connection(("127.0.0.1", port), 20) as caller,
    ):
        caller.sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
        assert caller.recv(1) == b""


def test_a_caller_who_sends_a_letter_now_and_then_is_dropped_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("server.metrics.port._LONGEST_SECONDS", 0.3)
    port = free_port()
    with (
        metrics_port(Metrics(), "127.0.0.1", port),
        socket.create_connection(("127.0.0.1", port), 0.05) as caller,
    ):
        end = time.monotonic() + 20
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            while time.monotonic() < end:
                caller.sendall(b"G")
                time.sleep(0.05)


def test_nothing_is_changed_by_that_port() -> None:
    port = free_port()
    with metrics_port(Metrics(), "127.0.0.1", port):
        for method in ("POST", "PUT", "DELETE"):
            asked = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", method=method)
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(asked)
            assert refused.value.code == 405
