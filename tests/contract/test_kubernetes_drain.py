"""The preStop hook of deploy/kubernetes/: it waits for people, and no longer than it may."""

from __future__ import annotations

import runpy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from server.metrics import Metrics
from tests.contract.rendered_manifests import FOLDER

DRAIN = runpy.run_path(str(FOLDER / "base" / "drain.py"))
in_flight: Callable[[str], int] = DRAIN["in_flight"]
drain: Callable[[str, float, float, float], bool] = DRAIN["drain"]


@contextmanager
def process(metrics: Metrics, looks: list[float], leaves_after: int = 10**6) -> Iterator[str]:
    """Serves real metrics; after so many looks the last person has gone."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            looks.append(time.monotonic())
            if len(looks) == leaves_after:
                metrics.in_flight.dec()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(metrics.text())

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/metrics"
        server.shutdown()


def metrics_with(requests: int) -> Metrics:
    """Metrics of a process that answers so many requests, the question for them included."""
    metrics = Metrics()
    for _ in range(requests):
        metrics.in_flight.inc()
    return metrics


def test_the_question_itself_does_not_count() -> None:
    with process(metrics_with(4), []) as url:
        assert in_flight(url) == 3


def test_it_goes_on_until_nobody_waits() -> None:
    looks: list[float] = []
    with process(metrics_with(2), looks, leaves_after=4) as url:
        assert drain(url, 0.0, 60.0, 0.01)
    assert len(looks) == 4


def test_it_stays_the_least_time_though_nobody_is_there_yet() -> None:
    looks: list[float] = []
    start = time.monotonic()
    with process(metrics_with(1), looks) as url:
        assert drain(url, 0.3, 60.0, 0.01)
    assert looks[0] - start >= 0.3


def test_it_gives_up_at_the_most() -> None:
    with process(metrics_with(2), []) as url:
        assert not drain(url, 0.0, 0.2, 0.05)


def test_a_process_that_has_died_is_not_waited_for() -> None:
    with process(metrics_with(1), []) as url:
        pass
    assert drain(url, 0.0, 60.0, 0.01)
