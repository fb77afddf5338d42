"""Which callers would rather come back, by RFC 7240."""

from __future__ import annotations

import pytest

from server.http.preferences import async_patience


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["respond-async"], 0),
        (["Respond-Async"], 0),
        (["respond-async, wait=10"], 10),
        (["wait=10, respond-async"], 10),
        (["wait=10", "respond-async"], 10),
        (['respond-async; x="y", wait="7"'], 7),
        (["respond-async, wait=3, wait=9"], 3),
        (["return=minimal, respond-async,wait=2"], 2),
        (["respond-async, wait=soon"], 0),
        (["respond-async, wait=-1"], 0),
        (["respond-async, wait=99999999999999999999"], 0),
        (["respond-async, wait=²"], 0),
    ],
)
def test_who_prefers_to_come_back(headers: list[str], seconds: float) -> None:
    assert async_patience(headers) == seconds


@pytest.mark.parametrize(
    "headers", [[], [""], ["wait=10"], ["return=minimal"], ["respond-asynchronously"], [","]]
)
def test_who_waits(headers: list[str]) -> None:
    assert async_patience(headers) is None
