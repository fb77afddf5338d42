"""When the client sends a request again, and what its exceptions say."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from server.client import (
    ConflictError,
    HubClient,
    HubError,
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    NotSignedInError,
    Pause,
    StrangeAnswerError,
    UnreachableError,
)
from server.links.schemas import NewLink
from server.schemas import Run
from tests.services.processes import free_port
from tests.services.scripted import Scripted, ScriptedServer, refused

BUSY = refused(503, "UNAVAILABLE")
RUN = Scripted(200, {"name": "machineLearningRuns/r"})


def test_a_read_is_sent_again_while_the_hub_is_busy(
    scripted: ScriptedServer, waits: list[float]
) -> None:
    scripted.answers = [BUSY, BUSY, RUN]
    with HubClient(scripted.url) as hub:
        assert hub.runs.get("r").name == "machineLearningRuns/r"
    assert scripted.requests == [("GET", "/v1/machineLearningRuns/r")] * 3
    # 0.2 and 1 second, give or take a quarter.
    assert 0.15 <= waits[0] <= 0.25
    assert 0.75 <= waits[1] <= 1.25


def test_three_tries_are_all(scripted: ScriptedServer, waits: list[float]) -> None:
    scripted.answers = [BUSY]
    with HubClient(scripted.url) as hub, pytest.raises(UnreachableError, match="No"):
        hub.runs.get("r")
    assert len(scripted.requests) == 3


def test_a_creation_is_sent_again_under_the_same_request_id(
    scripted: ScriptedServer, waits: list[float]
) -> None:
    scripted.answers = [BUSY, Scripted(0), RUN]
    with HubClient(scripted.url) as hub:
        hub.runs.create(Run(display_name="x"), "r")
        hub.runs.create(Run(display_name="x"), "q")
    ids = [parse_qs(urlsplit(path).query)["requestId"][0] for _, path in scripted.requests]
    assert len(ids) == 4
    assert ids[0] == ids[1] == ids[2] != ids[3]


@pytest.mark.parametrize("answer", [BUSY, Scripted(0), Scripted(502, b"<html>")])
def test_a_link_is_never_made_twice(
    scripted: ScriptedServer, waits: list[float], answer: Scripted
) -> None:
    scripted.answers = [answer]
    with HubClient(scripted.url) as hub, pytest.raises(UnreachableError):
        hub.links.create("r", "s", NewLink())
    assert len(scripted.requests) == 1
    assert waits == []


def test_a_change_is_not_sent_again(scripted: ScriptedServer, waits: list[float]) -> None:
    scripted.answers = [BUSY]
    with HubClient(scripted.url) as hub:
        with pytest.raises(UnreachableError):
            hub.runs.update("r", Run(display_name="y"))
        with pytest.raises(UnreachableError):
            hub.runs.delete("r")
    assert [method for method, _ in scripted.requests] == ["PATCH", "DELETE"]


def test_whoever_asks_too_often_waits_as_told(scripted: ScriptedServer, waits: list[float]) -> None:
    link = {
        **{"name": "shareLinks/l", "uid": "l", "state": "ACTIVE", "opens": 0, "note": ""},
        **{"createTime": "2026-01-31T00:00:00Z", "expireTime": None, "revokeTime": None},
        **{"creator": "x", "uri": "http://h/s/t", "token": "t"},
    }
    scripted.answers = [Scripted(429, None, {"Retry-After": "4"}), Scripted(200, link)]
    with HubClient(scripted.url) as hub:
        assert hub.links.create("r", "s", NewLink()).uid == "l"
    assert 3 <= waits[0] <= 5


def test_a_busy_hub_is_asked_again_when_it_says_so_and_that_is_told(
    scripted: ScriptedServer, waits: list[float]
) -> None:
    busy = refused(503, "UNAVAILABLE", reason="busy", ahead="3")
    scripted.answers = [*[replace(busy, headers={"Retry-After": "4"})] * 5, RUN]
    told: list[Pause] = []
    with HubClient(scripted.url, on_pause=told.append) as hub:
        hub.runs.get("r")
    # Never before the four seconds are over, and more often than one that names no time.
    assert [4 <= wait <= 5 for wait in waits] == [True] * 5
    assert [pause.ahead for pause in told] == [3] * 5
    assert str(told[0]) == "busy, 3 ahead; trying again in 5 s"
    assert str(Pause(4.0)) == "busy; trying again in 4 s"


def test_patience_has_an_end(scripted: ScriptedServer, waits: list[float]) -> None:
    busy = refused(503, "UNAVAILABLE", reason="busy", ahead="3")
    scripted.answers = [replace(busy, headers={"Retry-After": "4"})]
    with HubClient(scripted.url, patience=10) as hub, pytest.raises(UnreachableError) as caught:
        hub.runs.get("r")
    assert len(waits) == 2  # 8 of the 10 seconds
    assert (caught.value.retry_after, caught.value.ahead) == (4, 3)


def test_a_change_waits_for_no_busy_hub(scripted: ScriptedServer, waits: list[float]) -> None:
    scripted.answers = [Scripted(503, None, {"Retry-After": "1"})]
    with HubClient(scripted.url) as hub, pytest.raises(UnreachableError):
        hub.runs.delete("r")
    assert waits == []


def test_nobody_is_made_to_wait_for_long(scripted: ScriptedServer, waits: list[float]) -> None:
    scripted.answers = [Scripted(503, None, {"Retry-After": "60"})]
    with HubClient(scripted.url) as hub, pytest.raises(UnreachableError):
        hub.runs.get("r")
    assert waits == []


def test_what_did_not_reach_the_hub_is_sent_again(waits: list[float]) -> None:
    with HubClient(f"http://127.0.0.1:{free_port()}") as hub, pytest.raises(UnreachableError):
        hub.links.create("r", "s", NewLink())
    assert len(waits) == 2


@pytest.mark.parametrize("body", [b"<html>hello</html>", [], {"displayName": 5}])
def test_a_stranger_is_told_apart(scripted: ScriptedServer, body: object) -> None:
    scripted.answers = [Scripted(200, body)]
    with HubClient(scripted.url) as hub, pytest.raises(StrangeAnswerError, match="not XProf Hub"):
        hub.runs.get("r")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused(400, "INVALID_ARGUMENT"), InvalidRequestError),
        (refused(400, "FAILED_PRECONDITION"), HubError),
        (refused(401, "UNAUTHENTICATED"), NotSignedInError),
        (refused(403, "PERMISSION_DENIED"), NotAllowedError),
        (refused(404, "NOT_FOUND"), NotFoundError),
        (refused(409, "ABORTED"), ConflictError),
        (refused(410, "NOT_FOUND"), NotFoundError),
        (refused(422, "FAILED_PRECONDITION"), HubError),
        (refused(500, "INTERNAL"), HubError),
        (refused(504, "DEADLINE_EXCEEDED"), UnreachableError),
        (Scripted(418, b"tea"), StrangeAnswerError),
    ],
)
def test_each_refusal_has_its_own_kind(
    scripted: ScriptedServer, answer: Scripted, kind: type[HubError]
) -> None:
    scripted.answers = [answer]
    with HubClient(scripted.url) as hub, pytest.raises(HubError) as caught:
        hub.runs.get("r")
    assert type(caught.value) is kind
    assert caught.value.status == answer.status


def test_an_exception_says_what_the_api_said(scripted: ScriptedServer) -> None:
    scripted.answers = [
        refused(400, "INVALID_ARGUMENT", "filter: What?", field="filter", description="Try =.")
    ]
    with HubClient(scripted.url) as hub, pytest.raises(InvalidRequestError) as caught:
        list(hub.runs.list("???"))
    problem = caught.value
    assert str(problem) == "filter: What?"
    assert (problem.code, problem.field, problem.hints) == (
        "INVALID_ARGUMENT",
        "filter",
        ("Try =.",),
    )


def test_a_token_is_not_taken_along_to_another_address(scripted: ScriptedServer) -> None:
    scripted.answers = [Scripted(301, b"", {"Location": f"{scripted.url}/elsewhere"})]
    with HubClient(scripted.url, "xpa_secret") as hub, pytest.raises(StrangeAnswerError) as caught:
        hub.runs.get("r")
    assert f"{scripted.url}/elsewhere" in caught.value.next_step
    assert len(scripted.requests) == 1


def test_who_has_no_token_is_told_how_to_get_in(scripted: ScriptedServer) -> None:
    scripted.answers = [refused(401, "UNAUTHENTICATED")]
    with HubClient(scripted.url) as hub, pytest.raises(NotSignedInError) as caught:
        hub.caller()
    assert "xprof-hub login" in caught.value.next_step


def test_pages_are_fetched_when_they_are_asked_for(scripted: ScriptedServer) -> None:
    first = {"machineLearningRuns": [{"displayName": "a"}], "nextPageToken": "t/1"}
    scripted.answers = [Scripted(200, first), Scripted(200, {})]
    with HubClient(scripted.url) as hub:
        runs = hub.runs.list()
        assert scripted.requests == []
        assert next(runs).display_name == "a"
        assert len(scripted.requests) == 1
        assert list(runs) == []
    query = parse_qs(urlsplit(scripted.requests[1][1]).query)
    assert query["pageToken"] == ["t/1"]


def test_ids_are_encoded(scripted: ScriptedServer) -> None:
    scripted.answers = [RUN]
    with HubClient(scripted.url) as hub:
        hub.runs.get("a b?#%\u00fc")
    assert scripted.requests[0][1] == "/v1/machineLearningRuns/a%20b%3F%23%25%C3%BC"


def test_a_proxy_is_not_asked_for_this_machine(
    scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    scripted.answers = [RUN]
    with HubClient(scripted.url) as hub:
        hub.runs.get("r")
