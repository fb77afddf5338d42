"""The client's patience: it asks how far a broken upload is, goes on from there, and gives up in the end."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from server.client.errors import ConflictError, HubError, UnreachableError
from server.client.transport import Transport
from server.client.uploads import PART_BYTES, LocalProfile, Uploads

SIZE = PART_BYTES + 5
DONE = {
    "name": "machineLearningRuns/r/profilerSessions/s/hosts/h",
    "host": "h",
    "sizeBytes": SIZE,
    "etag": "e",
    "session": "machineLearningRuns/r/profilerSessions/s",
    "sessionState": "OPEN",
}
Answer = Callable[[httpx2.Request], httpx2.Response]


def partial(received: int) -> Answer:
    headers = {"Range": f"bytes=0-{received - 1}"} if received else {}
    return lambda _request: httpx2.Response(308, headers=headers)


def error(status: int, name: str) -> Answer:
    body = {"error": {"code": status, "status": name, "message": "no", "details": []}}
    return lambda _request: httpx2.Response(status, json=body)


def done(_request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, json=DONE)


def broken(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ReadError("reset", request=request)


class Hub:
    """Answers one request after the other as it was told."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.spans: list[str | None] = []
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        self.spans.append(request.headers.get("content-range"))
        return self.answers.pop(0)(request)


@pytest.fixture
def profile(tmp_path: Path) -> LocalProfile:
    path = tmp_path / "h.xplane.pb"
    path.write_bytes(os.urandom(SIZE))
    return LocalProfile("h", path)


def send(hub: Hub, profile: LocalProfile, *, replace: bool = False) -> list[float]:
    """Sends the file; how long it waited each time."""
    waits: list[float] = []
    transport = Transport("http://hub.test", sleep=waits.append)
    transport.http = httpx2.Client(transport=httpx2.MockTransport(hub))
    Uploads(transport, sleep=waits.append).send("r", "s", profile, replace=replace)
    assert hub.answers == []
    return waits


ASK = f"bytes */{SIZE}"
FIRST = f"bytes 0-{PART_BYTES - 1}/{SIZE}"
LAST = f"bytes {PART_BYTES}-{SIZE - 1}/{SIZE}"


def test_a_file_is_sent_in_parts_with_its_digest(profile: LocalProfile) -> None:
    hub = Hub(partial(0), partial(PART_BYTES), done)
    assert send(hub, profile) == []
    assert hub.spans == [ASK, FIRST, LAST]
    content = profile.path.read_bytes()
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    assert {request.headers["repr-digest"] for request in hub.requests} == {f"sha-256=:{digest}:"}
    assert b"".join(request.content for request in hub.requests) == content
    assert hub.requests[0].url.path == "/v1/machineLearningRuns/r/profilerSessions/s/hosts/h"


def test_it_goes_on_where_the_hub_is(profile: LocalProfile) -> None:
    hub = Hub(partial(PART_BYTES), done)
    send(hub, profile)
    assert hub.spans == [ASK, LAST]


@pytest.mark.parametrize(
    "failure",
    [broken, error(503, "UNAVAILABLE"), error(408, "DEADLINE_EXCEEDED"), error(409, "ABORTED")],
)
def test_after_a_failure_it_asks_and_goes_on(profile: LocalProfile, failure: Answer) -> None:
    hub = Hub(partial(0), failure, partial(PART_BYTES), done)
    assert len(send(hub, profile)) == 1
    assert hub.spans == [ASK, FIRST, ASK, LAST]


def test_a_hub_that_is_busy_is_left_alone_as_long_as_it_asks_for(profile: LocalProfile) -> None:
    def busy(request: httpx2.Request) -> httpx2.Response:
        answer = error(503, "UNAVAILABLE")(request)
        answer.headers["Retry-After"] = "5"
        return answer

    hub = Hub(partial(0), busy, partial(PART_BYTES), done)
    (wait,) = send(hub, profile)
    assert 5 <= wait <= 6.25


def test_it_waits_longer_each_time_and_then_gives_up(profile: LocalProfile) -> None:
    waits: list[float] = []
    hub = Hub(*[broken] * 10)
    transport = Transport("http://hub.test")
    transport.http = httpx2.Client(transport=httpx2.MockTransport(hub))
    with pytest.raises(UnreachableError):
        Uploads(transport, sleep=waits.append).send("r", "s", profile)
    expected = [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert len(waits) == len(expected)
    for wait, middle in zip(waits, expected, strict=True):
        assert 0.75 * middle <= wait <= 1.25 * middle


def test_failures_between_which_something_came_are_not_counted_together(
    profile: LocalProfile,
) -> None:
    profile.path.write_bytes(bytes(3 * PART_BYTES))
    answers: list[Answer] = [partial(0)]
    for index in (1, 2):
        answers += [broken] * 6
        answers += [partial((index - 1) * PART_BYTES), partial(index * PART_BYTES)]
    # After each failure comes a question, which fails too but for the last.
    hub = Hub(*answers, done)
    assert len(send(hub, profile)) == 12


def test_a_hub_that_takes_parts_and_keeps_none_is_given_up(profile: LocalProfile) -> None:
    # It is asked before each of ten tries.
    hub = Hub(*[partial(0)] * 20)
    with pytest.raises(UnreachableError, match="has no more than before"):
        send(hub, profile)
    assert hub.spans == [ASK, FIRST] * 10


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (404, "NOT_FOUND"),
        (413, "INVALID_ARGUMENT"),
        (507, "RESOURCE_EXHAUSTED"),
        (409, "ALREADY_EXISTS"),
    ],
)
def test_what_trying_again_can_not_help_is_said_at_once(
    profile: LocalProfile, status: int, name: str
) -> None:
    hub = Hub(error(status, name))
    with pytest.raises(HubError) as caught:
        send(hub, profile)
    assert caught.value.status == status
    assert len(hub.requests) == 1


def test_another_file_is_replaced_only_when_asked(profile: LocalProfile) -> None:
    hub = Hub(error(409, "ALREADY_EXISTS"), partial(PART_BYTES), done)
    send(hub, profile, replace=True)
    assert [request.headers.get("if-match") for request in hub.requests] == [None, "*", "*"]
    with pytest.raises(ConflictError):
        send(Hub(error(409, "ALREADY_EXISTS")), profile)


def test_a_small_file_goes_in_one_request(profile: LocalProfile) -> None:
    profile.path.write_bytes(b"small")
    hub = Hub(broken, done)
    assert len(send(hub, profile)) == 1
    assert hub.spans == [None, None]
    assert [request.content for request in hub.requests] == [b"small", b"small"]
