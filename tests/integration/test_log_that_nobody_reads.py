"""A front end whose log nobody reads goes on answering, and says how many lines were lost."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

from server.machine.logs import configure_logs
from tests.services.api import ApiServers

_ROUNDS = 600
"""Each line of a request has more than 200 bytes; a pipe holds 64 kB."""


@pytest.fixture
def unread() -> Iterator[int]:
    """The log goes into a pipe; its reading end."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as stream:
        configure_logs("info", stream)
        yield reader
        root.handlers = handlers
        root.setLevel(level)
        os.close(reader)


def test_requests_are_answered_while_nobody_reads_the_log(
    api_servers: ApiServers, unread: int
) -> None:
    api = api_servers.get("sqlite", "dev")
    for _ in range(_ROUNDS):
        assert api.http.get(f"{api.url}/nowhere").status_code == 404
    read = b""
    while read.count(b'"event": "request"') < _ROUNDS:
        read += os.read(unread, 1 << 16)
    assert len(read) > 1 << 16
