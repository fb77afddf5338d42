"""Floods are turned away in words, by address and by link; what jobs send and what lives is let through."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from auth.identity import Role
from auth.tokens import new_link_token
from server.limits.service import UNKNOWN_LINKS
from tests.contract.api_calls import authorize, error_of, token_for
from tests.contract.browsing import PAGE, XPROF
from tests.contract.link_visits import Visitor, another_link, make_link
from tests.services.api import Api, api_settings, serve_api


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A hub that lets a link answer forty times a minute, and an address three hundred times."""
    folder: Path = tmp_path_factory.mktemp("limits")
    settings = api_settings(folder, auth="token", link_requests=40, address_requests=300)
    with serve_api(settings) as api:
        authorize(api)
        make_link(api)
        yield api


def flood(visitor: Visitor, number: int) -> list[httpx2.Response]:
    """Answers to that many requests under the link; the minute may end in between, once."""
    return [visitor.data("config") for _ in range(number)]


def test_a_link_that_is_asked_too_often_says_so_and_others_go_on(limited: Api) -> None:
    link, other = another_link(limited), another_link(limited)
    with httpx2.Client(base_url=limited.url) as client:
        answers = flood(Visitor(client, f"/s/{link['token']}"), 81)
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert error_of(refused) == (429, "RESOURCE_EXHAUSTED")
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert refused.headers["cache-control"] == "no-store"
        assert "This link is asked too often" in refused.text
        assert [answer.status_code for answer in answers[:40]].count(200) >= 39
        page = client.get(f"/s/{link['token']}{XPROF}/", headers=PAGE)
        if page.status_code == 429:
            assert "<h1>Too many requests</h1>" in page.text
            assert "retry-after" in page.headers
        assert client.get(f"/s/{other['token']}{XPROF}/config").status_code == 200
        assert 'refused_requests_total{limit="link"}' in client.get("/metrics").text


def test_an_address_that_asks_too_often_keeps_no_job_from_its_work(limited: Api) -> None:
    _, job = token_for(limited, Role.INGEST)
    with httpx2.Client(base_url=limited.url) as client:
        statuses = [client.get("/", headers=PAGE).status_code for _ in range(601)]
        assert set(statuses) == {200, 429}
        for _ in range(3):
            registered = client.patch(
                "/v1/machineLearningRuns",
                params={"allow_missing": "true"},
                json={"logicalId": "job"},
                headers={"Authorization": f"Bearer {job}"},
            )
            assert registered.status_code == 200
            for path in ("/healthz", "/readyz", "/metrics", "/robots.txt"):
                assert client.get(path).status_code == 200
        assert 'refused_requests_total{limit="address"}' in client.get("/metrics").text


def test_who_tries_many_unknown_links_is_not_answered_any_more(tmp_path: Path) -> None:
    settings = api_settings(tmp_path, auth="token")
    with serve_api(settings) as api, httpx2.Client(base_url=api.url) as client:
        most = UNKNOWN_LINKS.most
        statuses = [client.get(f"/s/{new_link_token()}").status_code for _ in range(2 * most + 1)]
        assert set(statuses) == {404, 429}
        assert statuses[: most - 1].count(404) >= most - 2
        assert 'refused_requests_total{limit="unknown-links"}' in client.get("/metrics").text
