"""Every answer names its request, errors that are ours in their body, too, and probes have two names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.services.api import Api, api_settings, serve_api

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-00"}
ID = "X-Request-Id"
PAGE = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    settings = api_settings(tmp_path_factory.mktemp("ids"), path_prefix="/team", metrics_port=1)
    with serve_api(settings) as api:
        yield api


@pytest.fixture
def http(hub: Api) -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/team/healthz", 200),
        ("/team/v1/machineLearningRuns", 200),
        ("/team/v1/machineLearningRuns/none", 404),
        ("/team/nothing/here", 404),
        ("/outside-of-the-prefix", 404),
        ("/team/s/xph_unknown/", 404),
        ("/team/v1/machineLearningRuns?pageSize=x", 400),
    ],
)
def test_every_answer_names_its_request(
    hub: Api, http: httpx2.Client, path: str, status: int
) -> None:
    url = hub.url.removesuffix("/team") + path
    own = http.get(url)
    assert (own.status_code, len(own.headers.get_list(ID))) == (status, 1)
    assert re.fullmatch("[0-9a-f]{32}", own.headers[ID])
    assert http.get(url).headers[ID] != own.headers[ID]
    assert http.get(url, headers=TRACEPARENT).headers[ID] == TRACE
    invalid = {"traceparent": f"00-{'0' * 32}-00f067aa0ba902b7-00"}
    assert http.get(url, headers=invalid).headers[ID] not in {TRACE, "0" * 32}


def test_a_fault_names_its_request_in_header_body_and_page(
    hub: Api, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(type(hub.services.database), "reading", fail)
    answer = http.get(f"{hub.url}/v1/machineLearningRuns", headers=TRACEPARENT)
    assert (answer.status_code, answer.headers[ID]) == (500, TRACE)
    assert answer.json()["error"]["details"] == [{"requestId": TRACE}]
    # uvicorn ends the connection of a request that failed.
    page = httpx2.get(f"{hub.url}/runs", headers=TRACEPARENT | PAGE, trust_env=False)
    assert (page.status_code, page.headers[ID]) == (500, TRACE)
    assert f"Request id: <code>{TRACE}</code>" in page.text


def test_what_a_caller_does_wrong_is_answered_alike_each_time(
    hub: Api, http: httpx2.Client
) -> None:
    for path, headers in (("/v1/machineLearningRuns/none", {}), ("/s/xph_unknown/", PAGE)):
        first, second = (http.get(hub.url + path, headers=headers) for _ in range(2))
        assert first.status_code == 404
        assert first.content == second.content


@pytest.mark.parametrize("prefix", ["", "/team"])
@pytest.mark.parametrize("path", ["/health", "/healthz", "/ready", "/readyz"])
def test_probes_have_a_second_name(hub: Api, http: httpx2.Client, prefix: str, path: str) -> None:
    answer = http.get(hub.url.removesuffix("/team") + prefix + path)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_metrics_with_a_port_of_their_own_are_nowhere_else(hub: Api, http: httpx2.Client) -> None:
    assert http.get(hub.url.removesuffix("/team") + "/metrics").status_code == 404
    assert http.get(f"{hub.url}/metrics").status_code == 404


def test_pages_say_where_their_time_went_and_nothing_else(
    hub: Api, http: httpx2.Client, tmp_path: Path
) -> None:
    number = r"dur=\d+\.\d"
    page = http.get(f"{hub.url}/runs", headers=PAGE)
    assert page.status_code == 200
    assert re.fullmatch(f"database;{number}", page.headers["Server-Timing"])
    for path in ("/v1/machineLearningRuns", "/healthz", "/s/xph_unknown/"):
        assert "Server-Timing" not in http.get(hub.url + path, headers=PAGE).headers
