"""Every route of the service, asked as every role and as nobody, and by pages of other sites."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from fastapi import APIRouter, Depends, FastAPI

from auth.browser_sessions import BrowserSeals, BrowserSession, SignInMethod
from auth.identity import Principal, Role
from auth.policy import Action
from auth.tokens import new_api_token
from server.app import create_app
from server.callers.access import api_router, require
from server.commands.access_table import access_document
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.database import Database
from server.site.routes import page_router, person_who
from tests.contract.api_calls import error_of, token_for
from tests.contract.browsing import DATA
from tests.contract.route_rules import (
    BY_HAND,
    OPEN,
    Credential,
    RouteWithoutRuleError,
    Ruled,
    ruled_routes,
)
from tests.services.api import Api, ApiServers, api_settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "access.md"
REFUSED = frozenset({401, 403})
UNKNOWN = frozenset({404, 429})
"""What is answered to a link's token that nobody has made: the second to whom asks for many."""


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> list[Ruled]:
    return ruled_routes(create_app(api_settings(tmp_path_factory.mktemp("routes"))))


@pytest.fixture
def guarded(api_servers: ApiServers) -> Api:
    """A hub that asks for tokens, with nothing in it."""
    return api_servers.get("sqlite", "token")


def ask(api: Api, route: Ruled, headers: Mapping[str, str]) -> httpx2.Response:
    """A request as the hub's own pages and a program send it, with nothing in it."""
    is_api = route.path.startswith("/v1")
    body: dict[str, str] | None = {} if is_api and route.method in {"POST", "PATCH"} else None
    own = {} if is_api else {"Origin": api.url}
    sent = {**DATA, **own, **headers}
    return api.http.request(route.method, f"{api.url}{route.path}", headers=sent, json=body)


def credentials_of(api: Api, role: Role) -> dict[Credential, dict[str, str]]:
    """What somebody of this role has: a token, and the cookie that comes of it."""
    token_id, secret = token_for(api, role)
    now = datetime.now(UTC)
    # By hand, for a job's token signs nobody in.
    session = BrowserSession(
        f"of {role}", SignInMethod.TOKEN, token_id, None, now, now + timedelta(hours=1)
    )
    SqlBrowserSessions(Database(api.settings.resolved_database_url)).add(session)
    text = BrowserSeals(api.settings.secret_key).write_session(session)
    return {
        Credential.API_TOKEN: {"Authorization": f"Bearer {secret}"},
        Credential.COOKIE: {"Cookie": f"xprof-hub={text}"},
        Credential.NONE: {},
    }


@pytest.mark.parametrize("role", list(Role))
def test_each_role_gets_through_where_the_policy_lets_it(
    guarded: Api, routes: list[Ruled], role: Role
) -> None:
    kept = credentials_of(guarded, role)
    for route in routes:
        if route.credential in {Credential.API_TOKEN, Credential.COOKIE}:
            answer = ask(guarded, route, kept[route.credential])
            expected = route.lets_in(Principal("", role))
            found = answer.status_code not in REFUSED
            assert found == expected, (route, answer.status_code, answer.text[:300])
            assert answer.status_code != 401, route


def test_nobody_gets_through_anywhere(guarded: Api, routes: list[Ruled]) -> None:
    for headers in ({}, {"Authorization": f"Bearer {new_api_token()}", "Cookie": "xprof-hub=x"}):
        for route in routes:
            answer = ask(guarded, route, headers)
            if route.credential in {Credential.API_TOKEN, Credential.COOKIE}:
                assert error_of(answer) == (401, "UNAUTHENTICATED"), route
            elif route.credential is Credential.LINK:
                assert answer.status_code in UNKNOWN, (route, answer.text[:300])


def test_neither_credential_does_for_the_other(guarded: Api, routes: list[Ruled]) -> None:
    """A cookie goes along with whatever a page asks for; what a browser was told once opens no page."""
    kept = credentials_of(guarded, Role.ADMIN)
    others = {Credential.API_TOKEN: Credential.COOKIE, Credential.COOKIE: Credential.API_TOKEN}
    for route in routes:
        if route.credential in others:
            answer = ask(guarded, route, kept[others[route.credential]])
            assert error_of(answer) == (401, "UNAUTHENTICATED"), route


def test_a_role_opens_no_link_that_nobody_made(guarded: Api, routes: list[Ruled]) -> None:
    kept = credentials_of(guarded, Role.ADMIN)
    headers = {**kept[Credential.API_TOKEN], **kept[Credential.COOKIE]}
    for route in routes:
        if route.credential is Credential.LINK:
            assert ask(guarded, route, headers).status_code in UNKNOWN, route


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_no_page_of_another_site_changes_anything(
    guarded: Api, routes: list[Ruled], headers: dict[str, str]
) -> None:
    """Whatever a browser sends a cookie along with, and whatever needs none."""
    cookie = credentials_of(guarded, Role.ADMIN)[Credential.COOKIE]
    asked = 0
    for route in routes:
        if not route.changes or route.path.startswith("/v1"):
            continue
        answer = ask(guarded, route, {**cookie, **headers})
        asked += 1
        if route.credential is Credential.LINK and answer.status_code == 429:
            continue
        assert error_of(answer) == (403, "PERMISSION_DENIED"), route
        assert "another site" in answer.text, route
    assert asked > 20


def test_on_a_developers_machine_the_api_is_guarded_likewise(
    api_servers: ApiServers, routes: list[Ruled]
) -> None:
    api = api_servers.get("sqlite", "dev")
    for route in routes:
        if route.changes and route.credential is Credential.API_TOKEN:
            answer = ask(api, route, {"Origin": "https://evil.example"})
            assert error_of(answer) == (403, "PERMISSION_DENIED"), route
            assert "another site" in answer.text, route


def test_a_route_without_a_rule_is_found() -> None:
    for router in (api_router("/v1/new", "new"), page_router(), APIRouter()):
        router.get("/page")(lambda: None)
        app = FastAPI(openapi_url=None)
        app.include_router(router)
        with pytest.raises(RouteWithoutRuleError):
            ruled_routes(app)


def test_rules_are_read_out_of_the_code() -> None:
    api, page = api_router("/v1/new", "new"), page_router()
    api.post("", dependencies=[Depends(require(Action.AUDIT_READ))])(lambda: None)
    page.get("/page", dependencies=[Depends(person_who(Action.MEMBERS_MANAGE))])(lambda: None)
    app = FastAPI(openapi_url=None)
    app.include_router(api)
    app.include_router(page)
    assert ruled_routes(app) == [
        Ruled("POST", "/v1/new", "/v1/new", Credential.API_TOKEN, (Action.AUDIT_READ,)),
        Ruled("GET", "/page", "/page", Credential.COOKIE, (Action.MEMBERS_MANAGE,)),
    ]


def test_the_exceptions_are_routes_that_exist(routes: list[Ruled]) -> None:
    found = {(route.method, route.template) for route in routes}
    assert {*OPEN, *BY_HAND} <= found


def test_the_document_is_made_from_the_policy() -> None:
    assert DOCUMENT.read_text("utf-8") == access_document(), (
        "run: python -m server.commands.access_table > docs/access.md"
    )
