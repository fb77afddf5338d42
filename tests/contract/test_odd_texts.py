"""Texts that a database, a header or a page could choke on, in every path and field that strangers fill."""

from __future__ import annotations

import re

import httpx2
import pytest

from auth.identity import Role
from server.app import create_app
from tests.contract.api_calls import authorize, new_session
from tests.contract.browsing import PAGE, signed_in
from tests.contract.route_rules import Credential, Ruled, ruled_routes
from tests.services.api import Api, ApiServers, api_settings

ODD = ("%00", "%FF%0d%0aX-Odd:%201%E2%80%AE%27%22%3E%3Cb%3E", "9" * 400)
"""A zero byte, which PostgreSQL takes in no text; no UTF-8, a header of its own, text that runs backwards,
and markup; a number that fits nowhere."""
MARKUP = "'\"><b>"
QUERY = (
    *("q", "group", "label", "state", "framework", "owner", "from", "until", "order", "sort"),
    *(
        "pageToken",
        "page",
        "next",
        "left",
        "right",
        "actor",
        "action",
        "resource",
        "code",
        "revoked",
    ),
    *("whose", "target", "host", "tag", "looks", "session", "grant"),
)
FORM = (
    *("text", "token", "member", "role", "subject", "password", "back", "view", "expires", "ends"),
    *("note", "access", "opens"),
)


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> list[Ruled]:
    """All pages, and what lies under links."""
    app = create_app(api_settings(tmp_path_factory.mktemp("odd")))
    return [
        route
        for route in ruled_routes(app)
        if route.credential is not Credential.API_TOKEN and not route.path.startswith("/v1")
    ]


def ask(client: httpx2.Client, api: Api, route: Ruled, path: str, text: str) -> httpx2.Response:
    """A request with the text in all fields of the query, or of the form."""
    if not route.changes:
        query = "&".join(f"{name}={text}" for name in QUERY)
        return client.get(f"{path}?{query}", headers=PAGE)
    form = "&".join(f"{name}={text}" for name in FORM)
    headers = {**PAGE, "Origin": api.url, "Content-Type": "application/x-www-form-urlencoded"}
    return client.request(route.method, path, headers=headers, content=form)


@pytest.mark.parametrize("text", ODD, ids=["zero", "markup", "number"])
def test_no_text_makes_a_page_fail_or_adds_to_its_answer(
    api_servers: ApiServers, routes: list[Ruled], text: str
) -> None:
    api = api_servers.get("postgresql", "token")
    authorize(api)
    new_session(api)
    failed = []
    with signed_in(api, Role.ADMIN) as client:
        for route in routes:
            if route.path == "/signout":
                continue
            real = route.template.replace("{run}", "r").replace("{session}", "s")
            for template in {route.template, real}:
                path = re.sub(r"\{[^}]+\}", text, template)
                answer = ask(client, api, route, path, text)
                assert "x-odd" not in answer.headers
                assert MARKUP not in answer.text
                # There is no worker, and so 503 where one is asked.
                if answer.status_code not in {*range(200, 500), 503}:
                    failed.append((answer.status_code, route.method, template))
    assert not failed
