"""PostgreSQL goes for a while: front ends stay where balancers see them, and say in words what is missing."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from auth.identity import Role
from tests.contract.api_calls import new_session, token_for
from tests.contract.browsing import DATA, PAGE, XPROF, signed_in
from tests.services.api import Api, api_settings, serve_api
from tests.services.postgres import PostgresServer

SESSION = "/runs/r/sessions/s"
PROBES = ("/readyz", "/ready")
PAGES = ("/runs", SESSION, f"{SESSION}{XPROF}/", "LINK", f"LINK{XPROF}/")
FOR_PROGRAMS = (
    f"LINK{XPROF}/data?tag=overview_page&host=ALL_HOSTS",
    f"LINK{XPROF}/run_tools?run=s",
    f"LINK{XPROF}/status",
    f"{SESSION}{XPROF}/data?tag=overview_page&host=ALL_HOSTS",
    "/v1/machineLearningRuns",
    "/v1/machineLearningRuns/r/profilerSessions/s",
)


@dataclass(frozen=True)
class Visit:
    """What a browser that has signed in saw of one front end.

    Attributes:
        before: states of `/readyz` and of a link, while the database was there.
        meanwhile: answers while it was away, by path.
        after: as `before`, when it was back.
    """

    before: tuple[int, int]
    meanwhile: dict[str, httpx2.Response]
    after: tuple[int, int]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> Visit:
    folder: Path = tmp_path_factory.mktemp("gone")
    settings = api_settings(folder, database_url=postgres_server.create_database(), auth="token")
    with serve_api(settings) as api, signed_in(api, Role.ADMIN) as browser:
        link = make_link(api)

        def look() -> tuple[int, int]:
            return browser.get("/readyz").status_code, browser.get(f"{link}{XPROF}/").status_code

        def answer_to(path: str, headers: dict[str, str]) -> httpx2.Response:
            return browser.get(path.replace("LINK", link), headers=headers)

        before = look()
        postgres_server.stop()
        try:
            meanwhile = {path: answer_to(path, PAGE) for path in (*PROBES, *PAGES)}
            meanwhile |= {path: answer_to(path, DATA) for path in FOR_PROGRAMS}
        finally:
            postgres_server.start()
        return Visit(before, meanwhile, look())


def make_link(api: Api) -> str:
    """Path of a link to a session."""
    _, secret = token_for(api, Role.ADMIN)
    api.http.headers["Authorization"] = f"Bearer {secret}"
    made = api.http.post(f"{new_session(api)}/shareLinks", json={})
    return f"/s/{made.json()['token']}"


def refused(visit: Visit, path: str) -> httpx2.Response:
    """An answer from meanwhile, checked to be one that its reader can come back from."""
    answer = visit.meanwhile[path]
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert answer.headers["X-Request-Id"]
    for word in ("Traceback", "psycopg", "127.0.0.1", "SELECT"):
        assert word not in answer.text
    return answer


@pytest.mark.parametrize("path", PROBES)
def test_balancers_keep_it_and_those_who_watch_are_told(visit: Visit, path: str) -> None:
    answer = visit.meanwhile[path]
    assert answer.status_code == 200
    assert answer.json() == {"status": "database", "message": "OperationalError"}


@pytest.mark.parametrize("path", PAGES)
def test_whoever_opens_a_page_reads_a_sentence_and_the_page_comes_back(
    visit: Visit, path: str
) -> None:
    answer = refused(visit, path)
    text = html.unescape(answer.text)
    assert "The registry's database does not answer." in text
    assert "tries again by itself" in text
    assert answer.headers["X-Request-Id"] in text
    assert 5 <= int(answer.headers["Refresh"]) <= 10


@pytest.mark.parametrize("path", FOR_PROGRAMS)
def test_what_programs_and_pages_ask_for_gets_an_error_in_the_apis_shape(
    visit: Visit, path: str
) -> None:
    answer = refused(visit, path)
    error = answer.json()["error"]
    assert (error["code"], error["status"]) == (503, "UNAVAILABLE")
    assert error["message"] == "The registry's database does not answer."
    assert {"requestId": answer.headers["X-Request-Id"]} in error["details"]
    assert "Refresh" not in answer.headers


def test_all_is_well_as_soon_as_it_is_back(visit: Visit) -> None:
    assert visit.before == visit.after == (200, 200)
