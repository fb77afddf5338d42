"""Clients that go away in the middle of a request: no fault of ours, and none in the log."""

from __future__ import annotations

import logging
import socket
import time
from urllib.parse import urlsplit

import pytest

from tests.contract.api_calls import run_path
from tests.services.api import Api

BEGINNINGS = {
    "length": b'Content-Length: 1000\r\n\r\n{"displayName": "',
    "chunked": b'Transfer-Encoding: chunked\r\n\r\n10\r\n{"displayName": \r\n',
    "no body": b"Content-Length: 1000\r\n\r\n",
}


def begin_and_leave(api: Api, method: str, path: str, beginning: bytes) -> None:
    """Sends the beginning of a request and closes the connection."""
    address = urlsplit(api.url)
    with socket.create_connection((str(address.hostname), address.port or 0)) as connection:
        head = (
            f"{method} /v1{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        )
        connection.sendall(head.encode() + beginning)


def wait_for_request(caplog: pytest.LogCaptureFixture, method: str) -> None:
    """Waits until the server has put a request into its log."""
    end = time.monotonic() + 10
    while not any(getattr(record, "method", None) == method for record in caplog.records):
        assert time.monotonic() < end, "the request never ended"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/machineLearningRuns"),
        ("PATCH", run_path("r")),
        ("POST", f"{run_path('r')}/profilerSessions"),
        ("POST", "/apiTokens"),
    ],
)
@pytest.mark.parametrize("beginning", BEGINNINGS.values(), ids=list(BEGINNINGS))
def test_a_request_that_breaks_off_is_no_fault(
    api: Api, caplog: pytest.LogCaptureFixture, method: str, path: str, beginning: bytes
) -> None:
    caplog.set_level(logging.INFO)
    begin_and_leave(api, method, path, beginning)
    wait_for_request(caplog, method)
    # Whatever the broken request logs, it logs before the next one is answered.
    assert api.http.get("/machineLearningRuns").json()["machineLearningRuns"] == []
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
