"""`/compare` without scripts: what it shows, how sessions are chosen, and that names stay text."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest

from auth.identity import Role
from server.routes.compare_page import MOST_LOOKS
from tests.contract.api_calls import attach, create_run, token_for, write_profile
from tests.contract.browsing import browser, location, signed_in
from tests.known_figures import figures, keep_figures
from tests.services.api import Api, ApiServers

HOSTILE = "<img src=x onerror=alert(1)>\"'"
DASH = "\N{EN DASH}"
PAIR = {"left": "before/s", "right": "after/s"}


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A development server; the queries of these pages are tested on both databases elsewhere."""
    return api_servers.get("sqlite", "dev")


def make_pair(api: Api) -> None:
    """Two runs of one session each; the right one's steps take half as long again."""
    for run, batch in (("before", "256"), ("after", HOSTILE)):
        configs = {"userConfigs": {"batch": batch, "seed": 1}}
        create_run(api, run, displayName=f"Run {run}", configs=configs)
        assert attach(api, run, write_profile(api, "s", log_directory=run)).status_code == 200
    keep_figures(api, "before", "s", figures(1.0, 3.0, ops={"add": 80.0, HOSTILE: 40.0}))
    keep_figures(api, "after", "s", figures(3.0, 3.0, ops={"add": 160.0, "new": 8.0}))


def get(api: Api, **query: str) -> httpx2.Response:
    with browser(api) as client:
        return client.get("/compare", params=query)


def text_of(page: httpx2.Response) -> str:
    """The page's text as a reader has it."""
    assert page.status_code == 200, page.text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def links_of(page: httpx2.Response, pattern: str) -> list[str]:
    return [unescape(found) for found in re.findall(rf'href="({pattern}[^"]*)"', page.text)]


def query_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def test_two_sessions_stand_side_by_side(api: Api) -> None:
    make_pair(api)
    page = get(api, **PAIR)
    text = text_of(page)
    assert "Steps take 50.0 % longer on the right." in text
    assert "Average 2.000 ms 3.000 ms +1.000 ms +50.0 %" in text
    assert "Median 2.000 ms 3.000 ms +1.000 ms +50.0 %" in text
    assert "Duty cycle time in which a device works 85.4 % 85.4 % ±0.0 points" in text
    assert "Peak memory first host 3.0 GB 3.0 GB ±0 B ±0.0 %" in text
    assert "add fusion 10.00 µs 20.00 µs +10.00 µs +100.0 % 66.7 % 95.2 %" in text
    assert f"new fusion new {DASH} 1.000 µs +1.000 µs" in text
    assert f"{HOSTILE} fusion gone 5.000 µs {DASH}" in text
    assert f"userConfigs.batch 256 {HOSTILE}" in text
    assert "One setting is the same" in text
    assert "<img" not in page.text
    assert 'hx-get="' not in page.text
    assert " style=" not in page.text


def test_the_sides_can_be_swapped_and_changed(api: Api) -> None:
    make_pair(api)
    page = get(api, **PAIR)
    swapped = {"left": "after/s", "right": "before/s"}
    queries = [query_of(address) for address in links_of(page, "/compare")]
    assert swapped in queries
    assert {"left": "before/s"} in queries
    assert {"right": "after/s"} in queries
    back = get(api, **swapped)
    assert "Steps take 33.3 % less time on the right." in text_of(back)
    assert "/runs/before/sessions/s/data/plugin/profile/" in links_of(page, "/runs/before")
    assert links_of(page, "/v1/comparisons") == ["/v1/comparisons?left=before/s&right=after/s"]


def test_sessions_are_chosen_from_a_list(api: Api) -> None:
    make_pair(api)
    first = get(api)
    assert "Choose the session on the left" in text_of(first)
    assert "2.000 ms TPU v5p" in text_of(first)
    choices = [query_of(address) for address in links_of(first, r"/compare\?")]
    assert choices == [{"left": "after/s"}, {"left": "before/s"}]
    second = get(api, left="before/s")
    assert "Run before / s is on the left. Choose the session on the right." in text_of(second)
    assert 'href="/runs/before/sessions/s"' in second.text
    assert [query_of(address) for address in links_of(second, r"/compare\?")] == [
        {"left": "before/s", "right": "after/s"}
    ]
    other = get(api, right="before/s")
    assert [query_of(address) for address in links_of(other, r"/compare\?")] == [
        {"left": "after/s", "right": "before/s"}
    ]


def test_sessions_are_looked_for_by_words(api: Api) -> None:
    make_pair(api)
    for words, expected in (
        ("RUN aft", ["after"]),
        ("before", ["before"]),
        ("s run", ["after", "before"]),
        ("run %", []),
        ("x_y", []),
    ):
        page = get(api, q=words)
        queries = [query_of(address) for address in links_of(page, r"/compare\?")]
        assert [query["left"].partition("/")[0] for query in queries] == expected
        assert expected or "Nothing has this name" in text_of(page)


def test_a_wrong_address_leads_to_the_list(api: Api) -> None:
    make_pair(api)
    for left, right, said in (
        ("before", "", "names no session on the left"),
        ("before/s", "a/b/c", "names no session on the right"),
        ("before/s", "after/gone", "There is no session after/gone any more"),
    ):
        assert said in text_of(get(api, left=left, right=right))


def test_a_page_looks_again_until_figures_are_there_or_time_is_up(api: Api) -> None:
    make_pair(api)
    attach(api, "after", write_profile(api, "t", log_directory="t"))
    page = get(api, left="before/s", right="after/t")
    assert "The figures are being made." in text_of(page)
    again = re.findall(r'hx-get="([^"]+)"', page.text)
    assert [query_of(unescape(address)) for address in again] == [
        {"left": "before/s", "right": "after/t", "look": "1"}
    ]
    last = get(api, left="before/s", right="after/t", look=str(MOST_LOOKS))
    assert "not made within ten minutes" in text_of(last)
    assert "hx-get" not in last.text
    keep_figures(api, "after", "t", None, f"The profile is damaged: {HOSTILE}")
    failed = get(api, left="before/s", right="after/t")
    assert f"The profile is damaged: {HOSTILE}" in text_of(failed)
    assert "hx-get" not in failed.text


def test_who_has_not_signed_in_comes_back_after_signing_in(api_servers: ApiServers) -> None:
    guarded_api = api_servers.get("sqlite", "token")
    _, admin = token_for(guarded_api, Role.ADMIN)
    guarded_api.http.headers["Authorization"] = f"Bearer {admin}"
    make_pair(guarded_api)
    with browser(guarded_api) as stranger:
        answer = stranger.get("/compare", params=PAIR)
        where = location(answer)
        assert urlsplit(where).path == "/signin"
        assert query_of(query_of(where)["next"]) == PAIR
    with signed_in(guarded_api, Role.VIEWER) as viewer:
        assert "longer on the right" in text_of(viewer.get("/compare", params=PAIR))
