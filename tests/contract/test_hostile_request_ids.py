"""What strangers write into `traceparent`, and what `Server-Timing` and probes tell them: nothing of ours."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.services.api import Api, api_settings, serve_api

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"
PROBES = ("/health", "/healthz", "/ready", "/readyz")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    settings = api_settings(tmp_path_factory.mktemp("hostile"), auth="token")
    with serve_api(settings) as api:
        yield api


def answer_to(hub: Api, *headers: bytes) -> bytes:
    """The head of the answer to a request with these lines, sent as they are."""
    parts = urlsplit(hub.url)
    with socket.create_connection((parts.hostname, parts.port), 20) as caller:
        lines = [b"GET /healthz HTTP/1.1", b"Host: hub", b"Connection: close", *headers]
        caller.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
        with caller.makefile("rb") as received:
            return received.read().partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize(
    "value",
    [
        VALID.encode() + b"\n",
        VALID.encode() + b"\r",
        VALID.encode() + b"\x00",
        VALID.encode() + b"-<script>alert(1)</script>",
        VALID.replace("4bf9", "4BF9").encode(),
        b"01-" + VALID[3:].encode() + b"-" + b"a" * 600,
        b"<script>alert(1)</script>",
        b"\xff" * 55,
        "00-\N{FULLWIDTH DIGIT FOUR}bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".encode(),
        b"a" * 30_000,
    ],
)
def test_nothing_but_a_valid_id_of_a_caller_comes_back(hub: Api, value: bytes) -> None:
    """Either the request is refused by the server as no HTTP, or it has an id of our own."""
    head = answer_to(hub, b"traceparent: " + value)
    assert TRACE.encode() not in head
    assert b"script" not in head
    if head.startswith(b"HTTP/1.1 200"):
        assert len(re.findall(rb"(?im)^x-request-id: [0-9a-f]{32}\r?$", head)) == 1
    else:
        assert head.startswith(b"HTTP/1.1 400")


def test_a_header_that_is_sent_twice_names_nothing(hub: Api) -> None:
    assert TRACE.encode() in answer_to(hub, b"traceparent: " + VALID.encode())
    assert TRACE.encode() not in answer_to(hub, *[b"traceparent: " + VALID.encode()] * 2)


def test_time_tells_nobody_whether_something_is_there(hub: Api) -> None:
    """Answers to who has not signed in, or guesses, say nothing of where their time went."""
    paths = ("/runs", "/runs/r", "/runs/r/sessions/s", "/runs/r/sessions/s/data/plugin/profile/")
    guesses = (
        f"/s/xph_{'x' * 43}/",
        f"/s/xph_{'x' * 43}/data/plugin/profile/data?tag=overview_page",
    )
    with httpx2.Client(trust_env=False, headers={"Accept": "text/html"}) as http:
        for path in (*paths, *guesses, *PROBES, "/v1/machineLearningRuns"):
            answer = http.get(hub.url + path)
            assert "Server-Timing" not in answer.headers, (path, answer.status_code)


def test_many_who_ask_for_readiness_at_once_cost_the_database_one_question(
    hub: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer_of_ready(hub) == 200
    asked: list[None] = []
    may_end = threading.Event()

    def ping() -> None:
        asked.append(None)
        assert may_end.wait(20)

    monkeypatch.setattr(hub.services.database, "ping", ping)
    with ThreadPoolExecutor(30) as pool:
        answers = [pool.submit(answer_of_ready, hub) for _ in range(30)]
        # Sign of life that takes no thread of the server's: all have come by then, or come too late to wait.
        assert all(answer_to(hub).startswith(b"HTTP/1.1 200") for _ in range(30))
        may_end.set()
        assert {answer.result(20) for answer in answers} == {200}
    assert len(asked) < 10


def answer_of_ready(hub: Api) -> int:
    return httpx2.get(f"{hub.url}/ready", trust_env=False, timeout=20).status_code


def test_probes_tell_strangers_one_word(hub: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in PROBES:
        assert httpx2.get(hub.url + path, trust_env=False).json() == {"status": "ok"}

    def fail() -> None:
        raise RuntimeError("could not connect to 10.1.2.3 as xprof_hub with password hunter2")

    monkeypatch.setattr(hub.services.database, "ping", fail)
    for path in ("/ready", "/readyz"):
        answer = httpx2.get(hub.url + path, trust_env=False)
        assert answer.json() == {"status": "database", "message": "RuntimeError"}
