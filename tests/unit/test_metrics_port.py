"""Metrics on a port of their own."""

from __future__ import annotations

import socket
import urllib.request

import pytest

from server.listening import StartError
from server.metrics import Metrics
from server.metrics_port import metrics_port
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
