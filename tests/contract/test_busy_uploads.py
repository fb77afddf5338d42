"""More uploads at once than a front end takes in: the next is told when to come back, and then let in."""

from __future__ import annotations

import itertools
import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx2
import pytest

from server.uploads.service import MOST_AT_ONCE
from tests.contract.api_calls import PROFILE, create_run, error_of
from tests.contract.uploading import host_path, put, stored
from tests.services.api import Api, ApiServers


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """No database makes a difference here."""
    made = api_servers.get("sqlite", "dev")
    create_run(made, "r")
    return made


def begin_upload(api: Api, host: str) -> socket.socket:
    """An upload whose body does not go on."""
    address = urlsplit(api.url)
    assert address.hostname is not None
    assert address.port is not None
    connection = socket.create_connection((address.hostname, address.port))
    head = f"PUT /v1{host_path(host)} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 1000\r\n\r\n"
    connection.sendall(head.encode() + b"x")
    return connection


def first_with(api: Api, name: str, status: int) -> httpx2.Response:
    """The first answer with this status to one upload after another, each of a host of its own."""
    end = time.monotonic() + 20
    for number in itertools.count():
        answer = put(api, f"{name}{number}", PROFILE)
        if answer.status_code == status:
            return answer
        assert time.monotonic() < end
        time.sleep(0.05)
    raise AssertionError("there is no last number")


def test_who_comes_when_64_are_being_taken_in_is_told_when_to_come_back(api: Api) -> None:
    assert MOST_AT_ONCE == 64
    with ExitStack() as held:
        for number in range(MOST_AT_ONCE):
            held.enter_context(begin_upload(api, f"h{number}"))
        refused = first_with(api, "early", 503)
        assert error_of(refused) == (503, "UNAVAILABLE")
        assert refused.headers["retry-after"] == "5"
    # They have hung up: their places are free.
    taken = first_with(api, "late", 200)
    assert stored(api, taken.json()["host"]) == PROFILE
