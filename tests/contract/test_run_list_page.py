"""The page of runs as plain HTML: forms and links do everything, names stay text, addresses are kept."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import httpx2
import pytest

from tests.contract.api_calls import create_run, new_session
from tests.contract.browsing import browser
from tests.services.api import Api

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "\u202eexe.gnp",
    "🚀" * 20,
    "x" * 200,
    "a&amp;b \"quoted\" 'too'",
)


@pytest.fixture
def page(api: Api) -> Iterator[httpx2.Client]:
    """A browser at a hub where everybody may do everything."""
    with browser(api) as client:
        yield client


def shown(client: httpx2.Client, path: str = "/runs", **query: object) -> str:
    answer = client.get(f"{path}?{urlencode(query, doseq=True)}" if query else path)
    assert answer.status_code == 200, answer.text
    return str(answer.text)


def run_names(text: str) -> list[str]:
    """The names of the rows, as a browser reads them."""
    return [html.unescape(name) for name in re.findall(r'class="name"[^>]*><bdi>(.*?)</bdi>', text)]


def test_a_hub_without_runs_says_how_the_first_ones_come(page: httpx2.Client) -> None:
    text = shown(page)
    assert "No run yet" in text
    for command in ("runs create", "sessions attach", "xprof-hub import gs://"):
        assert command in text
    assert '<form class="filters"' not in text


def test_the_list_is_narrowed_by_its_form_and_widened_by_its_chips(
    api: Api, page: httpx2.Client
) -> None:
    create_run(api, "a", displayName="Llama", runSet="big", labels={"team": "perf"})
    create_run(api, "b", displayName="Llama two", runSet="big", state="FAILED")
    create_run(api, "c", displayName="ViT", labels={"team": "perf"})
    assert run_names(shown(page)) == ["ViT", "Llama two", "Llama"]
    text = shown(page, q="llama", group="big", label="team=perf", state="", sort="newest", page="")
    assert run_names(text) == ["Llama"]
    chips = [html.unescape(href) for href in re.findall(r'class="chip" href="([^"]*)"', text)]
    assert chips == [
        "/runs?group=big&label=team%3Dperf",
        "/runs?q=llama&label=team%3Dperf",
        "/runs?q=llama&group=big",
    ]
    assert [run_names(shown(page, chip)) for chip in chips] == [
        ["Llama"],
        ["Llama"],
        ["Llama two", "Llama"],
    ]
    # What was typed stands in the form again.
    assert re.search(r'<input type="search"[^>]* value="llama"', text)
    assert re.search(r'name="label"[^>]* value="team=perf"|value="team=perf"', text)
    nothing = shown(page, q="zzz")
    assert "Nothing matches" in nothing
    assert 'href="/runs">Show all runs' in nothing


def test_columns_sort_and_turn_round(api: Api, page: httpx2.Client) -> None:
    for name in ("b", "a", "c"):
        create_run(api, name)
    text = shown(page, sort="name")
    assert run_names(text) == ["a", "b", "c"]
    assert 'aria-sort="ascending"><a href="/runs?sort=-name"' in text
    assert run_names(shown(page, sort="-name")) == ["c", "b", "a"]
    assert 'aria-sort="descending"><a href="/runs?sort=-newest"' in shown(page)


def test_pages_lead_on_and_back_with_everything_asked_for(api: Api, page: httpx2.Client) -> None:
    for number in range(51):
        create_run(api, f"r{number:02}", runSet="g")
    first = shown(page, group="g")
    assert "of <span" in first
    assert len(run_names(first)) == 50
    assert 'rel="next" href="/runs?group=g&amp;page=2"' in first
    second = shown(page, group="g", page=2)
    assert run_names(second) == ["r00"]
    assert 'rel="prev" href="/runs?group=g"' in second
    assert "none on this page" in shown(page, group="g", page=7)


def test_a_wrong_filter_is_explained_beside_its_field(api: Api, page: httpx2.Client) -> None:
    create_run(api, "a")
    text = shown(page, filter="nothing = 1", since="someday")
    problem = re.search(r'id="filter-problem"[^>]*>([^<]+)<', text)
    assert problem
    assert "nothing" in html.unescape(problem[1])
    assert re.search(r'id="since-problem">Write a day as in 2026-11-30\.<', text)
    assert 'value="nothing = 1"' in text
    assert run_names(text) == []


def test_names_from_outside_stay_text(api: Api, page: httpx2.Client) -> None:
    for number, name in enumerate(HOSTILE):
        body = {"displayName": name, "runSet": name, "labels": {f"k{number}": name}}
        assert create_run(api, f"r{number}", **body).status_code == 200
    text = shown(page)
    assert run_names(text) == list(reversed(HOSTILE))
    assert "<img" not in text
    searched = shown(page, q=HOSTILE[0], group='"><script>', owner="</title>")
    assert "<img" not in searched
    assert "<script>" not in searched
    assert "<script" in searched  # the page's own, from a file


def test_a_row_counts_sessions_and_leads_to_the_run(api: Api, page: httpx2.Client) -> None:
    new_session(api, "a run/ö".replace("/", "-"))
    text = shown(page)
    assert 'href="/runs/a%20run-%C3%B6"' in text
    assert re.search(r'data-label="Sessions" class="right"><span class="number">1<', text)
    assert page.get("/runs/a%20run-%C3%B6").status_code == 200


def test_htmx_gets_the_short_address_to_show(api: Api, page: httpx2.Client) -> None:
    create_run(api, "a")
    answer = page.get("/runs?q=a&group=&state=&sort=newest", headers={"HX-Request": "true"})
    assert answer.headers["hx-push-url"] == "/runs?q=a"
    assert "hx-push-url" not in page.get("/runs?q=a").headers


def test_the_pages_policy_lets_no_inline_script_or_style_run(api: Api, page: httpx2.Client) -> None:
    create_run(api, "a", displayName="a")
    for path in ("/runs", "/runs/a", "/runs/a/delete"):
        answer = page.get(path)
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "style-src 'self'" in policy
        assert not re.search(r"<script(?![^>]* src=)", answer.text), path
        assert not re.search(r"<style| style=| on\w+=", answer.text), path
