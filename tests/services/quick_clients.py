"""Makes HTTP clients of tests cheap: they share what none of them uses.

A client reads all certificate authorities of the machine when it is made, 25 ms of a processor each time, and
tests make thousands of clients, of their own and in commands that they run in this process. All of them speak
to this machine without TLS.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import httpx2
import pytest


@pytest.fixture(scope="session", autouse=True)
def shared_authorities() -> Iterator[None]:
    """One TLS context for all clients that ask for the same."""
    with pytest.MonkeyPatch.context() as patch:
        made_once = functools.cache(httpx2.create_ssl_context)
        patch.setattr("httpx2._transports.default.create_ssl_context", made_once)
        yield
