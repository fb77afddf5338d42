"""Two host names, one service: links on the one, everything else on the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest

from server.settings import Settings
from tests.contract.api_calls import authorize, new_session
from tests.services.api import api_settings, serve_api

API_HOST, CONTENT_HOST = "hub.example", "content.example:8443"
CONTENT = f"https://{CONTENT_HOST}"
ELSEWHERE = (
    "hub.example",
    "10.0.0.7:8080",
    "content.example",
    "content.example:8444",
    "x.content.example:8443",
    "",
)


@dataclass(frozen=True)
class TwoHosts:
    """A hub with a content host.

    Attributes:
        prefix: path that everything is under.
        link: path of a link, with the prefix.
        uri: the link's address as the API told it.
    """

    http: httpx2.Client
    prefix: str
    link: str
    uri: str

    def ask(self, host: str, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
        """A request for a host, whatever the address."""
        sent = {"Host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.http.request(method, path, headers=sent)


@pytest.fixture(scope="module", params=["", "/team/x"])
def hosts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwoHosts]:
    prefix: str = request.param
    settings = api_settings(
        tmp_path_factory.mktemp("hosts"),
        base_url=f"https://{API_HOST}",
        content_url=f"{CONTENT}/",
        path_prefix=prefix,
        auth="token",
    )
    with serve_api(settings) as api:
        authorize(api)
        made = api.http.post(f"{new_session(api)}/shareLinks", json={}).json()
        authorization = {"Authorization": api.http.headers["Authorization"]}
        address = api.url.removesuffix(prefix)
        with httpx2.Client(base_url=address, headers=authorization, trust_env=False) as http:
            yield TwoHosts(http, prefix, f"{prefix}/s/{made['token']}", made["uri"])


def test_the_api_tells_links_on_the_content_host(hosts: TwoHosts) -> None:
    assert hosts.uri == f"{CONTENT}{hosts.link}"


@pytest.mark.parametrize("rest", ["/data/plugin/profile/", "/data/plugin/profile/runs"])
def test_links_answer_on_the_content_host(hosts: TwoHosts, rest: str) -> None:
    assert hosts.ask(CONTENT_HOST, f"{hosts.link}{rest}").status_code == 200
    assert hosts.ask(CONTENT_HOST.upper(), f"{hosts.link}{rest}").status_code == 200


@pytest.mark.parametrize("host", ELSEWHERE)
def test_every_other_host_leads_links_there_with_path_and_query(hosts: TwoHosts, host: str) -> None:
    rest = "/data/plugin/profile/hlo%20stats?tag=hlo_stats&host=a%2Fb&x=%C3%A9"
    for method in ("GET", "HEAD"):
        answer = hosts.ask(host, f"{hosts.link}{rest}", method)
        assert answer.status_code == 302
        assert answer.headers["location"] == f"{CONTENT}{hosts.link}{rest}"
        assert answer.headers["cache-control"] == "no-store"


def test_unknown_links_are_led_there_too(hosts: TwoHosts) -> None:
    """Which tokens there are is not to be learnt from where their requests end."""
    answer = hosts.ask(API_HOST, f"{hosts.prefix}/s/xph_unknown")
    assert (answer.status_code, answer.headers["location"]) == (
        302,
        f"{CONTENT}{hosts.prefix}/s/xph_unknown",
    )


@pytest.mark.parametrize(
    "path",
    ["//evil.example/s/x", "/s//evil.example", "/s/%0d%0aX: y", "/s/../../evil", "/s/\\evil"],
)
def test_no_path_leads_to_another_host_or_splits_a_header(hosts: TwoHosts, path: str) -> None:
    answer = hosts.ask(API_HOST, f"{hosts.prefix}{path}")
    location = answer.headers.get("location", CONTENT)
    assert location.startswith(CONTENT)
    assert "x" not in answer.headers


def test_nothing_is_sent_there_with_a_body(hosts: TwoHosts) -> None:
    answer = hosts.ask(API_HOST, f"{hosts.link}/data/plugin/profile/runs", "POST")
    assert answer.status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/docs",
        "/openapi.json",
        "/v1/machineLearningRuns",
        "/runs",
        "/runs/r",
        "/runs/r/sessions",
        "/signin",
        "/metrics",
        "/share",
    ],
)
def test_nothing_but_links_answers_on_the_content_host(hosts: TwoHosts, path: str) -> None:
    # Metrics are never below the prefix, and asked for by address rather than by name.
    whole = path if path == "/metrics" else f"{hosts.prefix}{path}"
    for accept in ("text/html", "*/*"):
        answer = hosts.ask(CONTENT_HOST, whole, Accept=accept)
        assert answer.status_code == 404
        assert ("<h1>" in answer.text) == (accept == "text/html")
        assert "machineLearningRuns" not in answer.text


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/robots.txt"])
def test_what_asks_after_the_process_answers_on_both(hosts: TwoHosts, path: str) -> None:
    for host in (CONTENT_HOST, API_HOST):
        assert hosts.ask(host, path).status_code == 200


def test_the_api_answers_on_every_other_host(hosts: TwoHosts) -> None:
    for host in (API_HOST, "10.0.0.7:8080"):
        assert hosts.ask(host, f"{hosts.prefix}/v1/machineLearningRuns").status_code == 200


def test_a_forwarded_host_changes_nothing(hosts: TwoHosts) -> None:
    headers = {"X_Forwarded_Host": CONTENT_HOST, "Forwarded": f"host={CONTENT_HOST}"}
    assert (
        hosts.ask(API_HOST, hosts.link, **headers).headers["location"] == f"{CONTENT}{hosts.link}"
    )
    headers = {"X_Forwarded_Host": API_HOST, "Forwarded": f"host={API_HOST}"}
    path = f"{hosts.prefix}/v1/machineLearningRuns"
    assert hosts.ask(CONTENT_HOST, path, **headers).status_code == 404


@pytest.mark.parametrize(
    ("base_url", "content_url", "refused"),
    [
        ("https://hub.example", "https://content.example", False),
        ("https://hub.example", "", False),
        ("", "https://content.example", False),
        ("http://localhost:8080", "http://127.0.0.1:8080", False),
        ("https://hub.example", "https://hub.example", True),
        # Cookies of one port are sent to the other.
        ("https://hub.example", "https://HUB.example:8443/", True),
    ],
)
def test_the_two_must_have_different_names(base_url: str, content_url: str, refused: bool) -> None:
    settings = Settings.model_validate({"base_url": base_url, "content_url": content_url})
    assert bool(settings.problems_with_addresses()) is refused
