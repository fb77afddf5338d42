"""Every 429 and 503 says when to come back, in seconds: to programs in a header, to people on a page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from http import HTTPStatus

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse

from loader.errors import ErrorCode, LoaderError
from loader.stopping import Stopping
from server.app import create_app
from server.http import error_table
from server.http.error_table import LOADER_ANSWERS, TOO_MANY, UNAVAILABLE, ErrorAnswer
from server.http.errors import ApiError, as_api_error
from server.http.middleware import SecurityHeaders
from server.http.probes import READY_PATHS, add_probes
from server.managed.errors import error_answer
from server.registry.errors import RegistryError, RegistryProblem
from server.site.routes import page_router
from tests.services.api import api_settings

BUSY = LoaderError(ErrorCode.BUSY, "The worker has much to do.", retry_after=7, ahead=3)
PASSING = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}
PAGE = {"Accept": "text/html"}
DATABASE_TROUBLE = {
    "/away": OperationalError("SELECT 1", {}, Exception("gone")),
    "/broken-off": InterfaceError("SELECT 1", {}, Exception("gone")),
    "/all-taken": PoolTimeoutError("all connections are taken"),
}
RAISED: dict[str, Exception] = {
    "/busy": BUSY,
    "/stored-elsewhere": LoaderError(ErrorCode.STORAGE_UNAVAILABLE, "It does not answer."),
    "/too-often": ApiError(TOO_MANY, "Too often.", headers={"Retry-After": "40"}),
    "/too-often-untold": ApiError(TOO_MANY, "Too often."),
    "/away-for-now": ApiError(UNAVAILABLE, "Away."),
    "/by-the-framework": HTTPException(503, "no"),
    "/by-the-framework-too-often": HTTPException(429, "no"),
    **DATABASE_TROUBLE,
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A hub with pages that fail: `RAISED`."""
    app: FastAPI = create_app(api_settings(tmp_path_factory.mktemp("busy"), auth="dev"))
    router = page_router()

    def fail(request: Request) -> None:
        raise RAISED[request.url.path]

    for path in RAISED:
        router.add_api_route(path, fail, methods=["GET", "POST"])

    @router.get("/by-hand")
    def answer_by_hand() -> PlainTextResponse:
        return PlainTextResponse("Not now.", 503)

    # Before the routes that take any path.
    app.router.routes[:0] = router.routes
    with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as made:
        yield made


def all_answers() -> list[ErrorAnswer]:
    """How every error that has a name is answered."""
    named = [value for value in vars(error_table).values() if isinstance(value, ErrorAnswer)]
    of_registry = [as_api_error(RegistryError(problem, "No.")) for problem in RegistryProblem]
    return [*named, *LOADER_ANSWERS.values(), *(one.answer for one in of_registry if one)]


def test_no_table_leaves_out_when_to_come_back() -> None:
    passing = [answer for answer in all_answers() if answer.http in PASSING]
    assert len(passing) >= 4
    for answer in passing:
        assert answer.retry_after is not None
        assert answer.retry_after >= 1


@pytest.mark.parametrize("status", sorted(PASSING))
def test_an_answer_without_a_time_can_not_be_made(status: int) -> None:
    with pytest.raises(ValueError, match="how many seconds"):
        ErrorAnswer(status, "UNAVAILABLE")


@pytest.mark.parametrize("path", [*RAISED, "/by-hand"])
@pytest.mark.parametrize("headers", [PAGE, {"Accept": "*/*"}])
def test_whatever_is_busy_says_when_to_come_back(
    client: TestClient, path: str, headers: dict[str, str]
) -> None:
    answer = client.get(path, headers=headers)
    assert answer.status_code in PASSING
    # Never an HTTP date: clocks differ.
    assert re.fullmatch(r"[1-9]\d*", answer.headers["retry-after"])


def test_the_error_itself_knows_better_than_the_table(client: TestClient) -> None:
    answer = client.get("/busy", headers={"Accept": "*/*"})
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["details"][0] == {"reason": "busy", "ahead": "3"}
    assert client.get("/too-often").headers["retry-after"] == "40"


def test_googles_shape_says_it_too() -> None:
    known = as_api_error(BUSY)
    assert known is not None
    answer = error_answer(known)
    assert answer.headers["retry-after"] == "7"
    assert b'"metadata":{"ahead":"3"}' in answer.body


def test_a_page_says_how_many_go_first_and_comes_back_by_itself(client: TestClient) -> None:
    answer = client.get("/busy", headers=PAGE)
    assert "Busy, 3 ahead of you" in answer.text
    assert BUSY.message in answer.text
    seconds = int(answer.headers["refresh"])
    assert 7 <= seconds <= 14
    assert f"tries again by itself in {seconds} s" in answer.text


def test_a_thousand_readers_do_not_come_back_in_one_second(client: TestClient) -> None:
    seconds = {client.get("/too-often", headers=PAGE).headers["refresh"] for _ in range(40)}
    assert len(seconds) > 10  # of the 41 from 40 to 80


@pytest.mark.parametrize("path", DATABASE_TROUBLE)
def test_a_page_without_a_database_asks_nobody_who_is_there(client: TestClient, path: str) -> None:
    answer = client.get(path, headers=PAGE)
    assert answer.headers["content-type"].startswith("text/html")
    is_busy = path == "/all-taken"
    assert ("Busy at the moment" in answer.text) is is_busy
    assert ("database are in use" in html.unescape(answer.text)) is is_busy
    assert ("database does not answer" in answer.text) is not is_busy
    assert ("Request id" in answer.text) is not is_busy
    assert 5 <= int(answer.headers["refresh"]) <= 10
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_form_is_not_sent_again(client: TestClient) -> None:
    headers = {**PAGE, "Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}
    answer = client.post("/busy", headers=headers)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "7"
    assert "refresh" not in answer.headers
    assert "by itself" not in answer.text
    assert re.search(r"Go back, and send it again in \d+ s", answer.text)


def test_a_worker_that_is_not_ready_says_when_to_look_again() -> None:
    async def starting() -> JSONResponse:
        return JSONResponse({"status": "starting"}, 503)

    app = FastAPI()
    add_probes(app, starting, Stopping(), None)
    for path in READY_PATHS:
        answer = TestClient(app).get(path)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_what_no_table_knows_has_a_time_too() -> None:
    for status in PASSING:
        app = SecurityHeaders(PlainTextResponse("No.", status), is_tls=False)
        answer = TestClient(app).get("/")
        assert (answer.status_code, answer.headers["retry-after"]) == (status, "5")
    told = PlainTextResponse("No.", 503, {"Retry-After": "9"})
    assert TestClient(SecurityHeaders(told, is_tls=False)).get("/").headers["retry-after"] == "9"
