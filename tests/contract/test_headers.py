"""The headers that every kind of answer carries: what browsers may do with it, and who may frame it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from server.http.errors import install_error_handlers
from server.http.middleware import security_headers
from server.ui.policies import PageKind, Policies
from tests.contract.api_calls import attach, authorize, new_session, write_profile
from tests.services.api import api_settings, serve_api

WIKI = "https://wiki.example"
API_HOST, CONTENT_HOST = "hub.example", "content.example"
PREFIX = "/team"
XPROF = "data/plugin/profile"
EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "x-robots-tag": "noindex, nofollow",
    "strict-transport-security": "max-age=31536000",
}


@dataclass(frozen=True)
class Hub:
    """A hub with two host names behind TLS, below a prefix, which a wiki may show in frames.

    Attributes:
        paths: where its links are, by what they open.
    """

    http: httpx2.Client
    paths: dict[str, str]

    def ask(self, host: str, method: str, path: str, **headers: str) -> httpx2.Response:
        """One request; names in braces in its path stand for `paths`."""
        address = path.format(**self.paths)
        sent = {"Host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.http.request(method, address, headers=sent)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    settings = api_settings(
        tmp_path_factory.mktemp("headers"),
        base_url=f"https://{API_HOST}",
        content_url=f"https://{CONTENT_HOST}",
        frame_ancestors=f"self {WIKI}",
        path_prefix=PREFIX,
        auth="token",
    )
    with serve_api(settings) as api:
        authorize(api)
        session = new_session(api)
        empty = write_profile(api, "empty", log_directory="empty")
        (empty / "vm.xplane.pb").write_bytes(b"")
        damaged = attach(api, "r", empty).json()["name"]
        made = {
            name: api.http.post(f"/{of.lstrip('/')}/shareLinks", json={}).json()
            for name, of in (("good", session), ("ended", session), ("damaged", damaged))
        }
        api.http.delete(f"/shareLinks/{made['ended']['uid']}")
        paths = {name: f"{PREFIX}/s/{link['token']}" for name, link in made.items()}
        authorization = {"Authorization": api.http.headers["Authorization"]}
        address = api.url.removesuffix(PREFIX)
        with httpx2.Client(base_url=address, headers=authorization, trust_env=False) as http:
            yield Hub(http, {**paths, "api": f"{PREFIX}/v1"})


HTML = "text/html,*/*"
GRAPH = "/data?tag=graph_viewer&type=graph"
TIMELINE = "/data?tag=memory_viewer&view_memory_allocation_timeline=1"
ANSWERS: dict[str, tuple[str, str, str, str, int, PageKind]] = {
    "XProf's page": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/", HTML, 200, "index"),
    "XProf's page by tool": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/hlo_stats", HTML, 200, "index"),
    "HEAD of XProf's page": (CONTENT_HOST, "HEAD", "{good}/" + XPROF + "/", HTML, 200, "index"),
    "trace viewer": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/trace_viewer_index.html", HTML, 200, "trace"),
    "graph": (CONTENT_HOST, "GET", "{good}/" + XPROF + GRAPH, HTML, 200, "graph"),
    "timeline": (
        CONTENT_HOST, "GET", "{good}/" + XPROF + TIMELINE,
        HTML, 200, "graph",
    ),
    "script": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/bundle.js", "*/*", 200, "data"),
    "stylesheet": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/styles.css", "text/css", 200, "data"),
    "small answer": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/runs", "*/*", 200, "data"),
    "failed data": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/data?tag=no_such", "*/*", 404, "data"),
    "failed table": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/data_csv?tag=no_such", HTML, 404, "data"),
    "entry of a link": (CONTENT_HOST, "GET", "{good}", HTML, 302, "data"),
    "lost page": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/empty", HTML, 302, "data"),
    "profile that is empty": (CONTENT_HOST, "GET", "{damaged}/" + XPROF + "/", HTML, 422, "message"),
    "link that ended": (CONTENT_HOST, "GET", "{ended}/" + XPROF + "/", HTML, 410, "message"),
    "link that ended, to a script": (CONTENT_HOST, "GET", "{ended}/" + XPROF + "/runs", "*/*", 410, "data"),
    "unknown link": (CONTENT_HOST, "GET", PREFIX + "/s/xph_unknown", HTML, 404, "message"),
    "unknown file under a link": (CONTENT_HOST, "GET", "{good}/" + XPROF + "/x.js", HTML, 404, "message"),
    "method under a link": (CONTENT_HOST, "POST", "{good}/" + XPROF + "/runs", "*/*", 405, "data"),
    "page on the content host": (CONTENT_HOST, "GET", PREFIX + "/docs", HTML, 404, "words"),
    "API on the content host": (CONTENT_HOST, "GET", "{api}/machineLearningRuns", "*/*", 404, "data"),
    "link on the other host": (API_HOST, "GET", "{good}", HTML, 302, "data"),
    "front door": (API_HOST, "GET", PREFIX + "/", HTML, 200, "words"),
    "sign-in": (API_HOST, "GET", PREFIX + "/signin", HTML, 200, "form"),
    "wrong token": (API_HOST, "POST", PREFIX + "/signin", HTML, 403, "form"),
    "signing out": (API_HOST, "POST", PREFIX + "/signout", HTML, 303, "data"),
    "runs, to a stranger": (API_HOST, "GET", PREFIX + "/runs", HTML, 302, "data"),
    "session, to a stranger": (API_HOST, "GET", PREFIX + "/runs/r/sessions/s", HTML, 302, "data"),
    "its data, to a stranger": (
        CONTENT_HOST, "GET", PREFIX + "/runs/r/sessions/s/" + XPROF + "/runs",
        "*/*", 401, "data",
    ),
    "reference": (API_HOST, "GET", PREFIX + "/docs", HTML, 200, "words"),
    "description of the API": (API_HOST, "GET", PREFIX + "/openapi.json", "*/*", 200, "data"),
    "API": (API_HOST, "GET", "{api}/machineLearningRuns", "*/*", 200, "data"),
    "API: bad request": (API_HOST, "GET", "{api}/machineLearningRuns?pageSize=x", "*/*", 400, "data"),
    "API: not found": (API_HOST, "GET", "{api}/machineLearningRuns/none", "*/*", 404, "data"),
    "API: no such address": (API_HOST, "GET", "{api}/none", "*/*", 404, "data"),
    "API: method": (API_HOST, "PUT", "{api}/machineLearningRuns", "*/*", 405, "data"),
    "health": (API_HOST, "GET", "/healthz", "*/*", 200, "data"),
    "robots.txt": (CONTENT_HOST, "GET", "/robots.txt", "*/*", 200, "data"),
    "outside the prefix": (API_HOST, "GET", "/elsewhere", HTML, 404, "data"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_says_what_browsers_may_do_with_it(hub: Hub, name: str) -> None:
    host, method, path, accept, status, kind = ANSWERS[name]
    answer = hub.ask(host, method, path, Accept=accept)
    assert answer.status_code == status, answer.text[:200]
    assert {name: answer.headers.get(name) for name in EVERYWHERE} == EVERYWHERE
    policies = answer.headers.get_list("content-security-policy")
    assert policies == [Policies(f"'self' {WIKI}", f"https://{CONTENT_HOST}").of(kind)]


@pytest.mark.parametrize(
    "path", ["{good}/" + XPROF + "/trace_viewer_index.html", "{good}/" + XPROF + "/bundle.js"]
)
def test_not_modified_takes_no_policy_away(hub: Hub, path: str) -> None:
    """What a browser has stored takes over the headers of a 304: the right policy, or none."""
    whole = hub.ask(CONTENT_HOST, "GET", path)
    unchanged = hub.ask(CONTENT_HOST, "GET", path, If_None_Match=whole.headers["etag"])
    assert unchanged.status_code == 304
    assert {name: unchanged.headers.get(name) for name in EVERYWHERE} == EVERYWHERE
    assert unchanged.headers.get("content-security-policy") in {
        None,
        whole.headers["content-security-policy"],
    }


def test_browsers_are_told_to_insist_on_tls_only_where_there_is_tls() -> None:
    assert "Strict-Transport-Security" in security_headers(is_tls=True)
    assert "Strict-Transport-Security" not in security_headers(is_tls=False)


def test_a_fault_carries_the_headers_too() -> None:
    app = FastAPI()
    install_error_handlers(app, security_headers(is_tls=True))

    @app.get("/")
    def fail() -> None:
        raise RuntimeError("a fault of ours")

    answer = TestClient(app, raise_server_exceptions=False).get("/")
    assert answer.status_code == 500
    assert {name: answer.headers.get(name) for name in EVERYWHERE} == EVERYWHERE
    assert answer.headers["content-security-policy"] == Policies().of("data")


def test_robots_may_ask_for_pages_but_not_for_conversions(hub: Hub) -> None:
    text = hub.ask(API_HOST, "GET", "/robots.txt").text
    rules = [line.removeprefix("Disallow: ") for line in text.splitlines() if "Disallow" in line]
    assert f"/*/{XPROF}/data" in rules
    assert "/" not in rules, "what a robot may not ask for may still be listed, by its address"
