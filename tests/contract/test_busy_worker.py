"""A front end whose worker has a full line: tools, a session's page and comparisons say so and come back."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape

import httpx2
import pytest

from loader.errors import ErrorCode, LoaderError
from server.fleet.protocol import ErrorBody
from tests.contract.api_calls import attach, create_run, session_path, write_profile
from tests.contract.browsing import DATA, XPROF, browser
from tests.contract.link_visits import make_link
from tests.services.api import Api, api_settings, serve_api
from tests.services.scripted import Scripted, ScriptedServer

BUSY = LoaderError(ErrorCode.BUSY, "The worker has much to do.", retry_after=7, ahead=3)
WORDS = "Busy, 3 ahead of you"


@pytest.fixture(scope="module")
def api(
    tmp_path_factory: pytest.TempPathFactory, scripted_for_module: ScriptedServer
) -> Iterator[Api]:
    scripted_for_module.answers = [Scripted(503, ErrorBody.of(BUSY).model_dump(mode="json"))]
    settings = api_settings(
        tmp_path_factory.mktemp("busy-worker"), auth="dev", workers=scripted_for_module.url
    )
    with serve_api(settings) as api:
        make_link(api)
        yield api


def get(api: Api, path: str, **headers: str) -> httpx2.Response:
    with browser(api) as client:
        return client.get(path, headers=headers)


def text_of(page: httpx2.Response) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


@pytest.mark.parametrize("route", ["data?tag=hlo_stats", "run_tools", "module_list"])
@pytest.mark.parametrize("prefer", ["", "respond-async, wait=5"])
def test_a_tool_says_how_many_go_first_and_when_to_come(api: Api, route: str, prefer: str) -> None:
    link = api.http.post(f"{session_path('r', 's')}/shareLinks", json={}).json()
    answer = get(api, f"/s/{link['token']}{XPROF}/{route}", Prefer=prefer, **DATA)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["details"][0] == {"reason": "busy", "ahead": "3"}


def test_the_page_of_a_session_looks_again_when_the_worker_says(api: Api) -> None:
    page = get(api, "/runs/r/sessions/s/hosts?looks=5")
    assert page.status_code == 200
    assert WORDS in text_of(page)
    again = re.search(r"Looking again in (\d+) s", page.text)
    assert again is not None
    assert 7 <= int(again[1]) <= 14
    # It passes, and is not read out as an alarm each time that the page looks.
    assert 'role="alert"' not in page.text
    assert f'hx-trigger="load delay:{again[1]}s"' in page.text
    # The hosts are listed without it.
    assert '<th scope="row"><bdi>' in page.text
    last = get(api, "/runs/r/sessions/s/hosts?looks=0")
    assert "Looking again" not in last.text


def test_a_comparison_goes_on_and_says_why_it_takes_long(api: Api) -> None:
    create_run(api, "other")
    assert attach(api, "other", write_profile(api, "s", log_directory="other")).status_code == 200
    query = "left=r/s&right=other/s"
    end = time.monotonic() + 20
    while WORDS not in text_of(page := get(api, f"/compare?{query}")):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert page.status_code == 200
    assert 'data-state="pending"' in page.text
    found = api.http.get(f"/comparisons?{query}")
    assert (found.status_code, found.json()["state"]) == (202, "PENDING")
    assert found.headers["retry-after"] == "1"
