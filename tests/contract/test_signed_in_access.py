"""Who may open the pages that no link opens: every route, as every role, and as nobody."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from auth.browser_sessions import (
    BrowserSeals,
    BrowserSession,
    SignInMethod,
    session_of_person,
)
from auth.identity import Role
from auth.members import KnownPerson
from server.registry.browser_sessions import SqlBrowserSessions
from server.registry.database import Database
from server.registry.members import add_member
from server.routes import (
    provider_sign_in,
    run_pages,
    session_pages,
    sign_in,
    sign_out,
    xprof,
    xprof_progress,
)
from tests.contract.api_calls import authorize, error_of, new_session, token_for
from tests.contract.browsing import DATA, XPROF, browser, location, signed_in
from tests.services.api import Api

SESSION = "/runs/r/sessions/s"
READ_BY_VIEWERS = (
    "/runs",
    "/runs/",
    "/runs/r",
    "/runs/r/",
    "/runs/r/sessions",
    "/runs/r/sessions/",
    "/runs/r/compare",
    SESSION,
    f"{SESSION}/",
    f"{SESSION}/hosts",
    f"{SESSION}/figures",
    f"{SESSION}{XPROF}",
    f"{SESSION}{XPROF}/",
    f"{SESSION}{XPROF}/runs",
    f"{SESSION}{XPROF}/config",
    f"{SESSION}{XPROF}/version",
    f"{SESSION}{XPROF}/hosts",
    f"{SESSION}{XPROF}/run_tools",
    f"{SESSION}{XPROF}/module_list",
    f"{SESSION}{XPROF}/data",
    f"{SESSION}{XPROF}/graph_data",
    f"{SESSION}{XPROF}/timeline_data",
    f"{SESSION}{XPROF}/data_csv",
    f"{SESSION}{XPROF}/status",
    f"{SESSION}{XPROF}/progress",
    f"{SESSION}{XPROF}/progress/",
    f"{SESSION}{XPROF}/progress/data",
    f"{SESSION}{XPROF}/bundle.js",
)
FOR_EVERYBODY = {
    "/signin",
    "/signin/oidc",
    "/signin/callback",
    "/signout",
    "/signedout",
    f"{SESSION}/enter",
    f"{SESSION}/enter/x",
}


def ask(client: httpx2.Client, path: str) -> httpx2.Response:
    return client.get(path, headers=DATA)


def set_up(api: Api) -> None:
    authorize(api)
    new_session(api)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN])
def test_whoever_may_read_sessions_gets_through(guarded_api: Api, role: Role) -> None:
    set_up(guarded_api)
    with signed_in(guarded_api, role) as client:
        for path in READ_BY_VIEWERS:
            assert ask(client, path).status_code not in {401, 403}, path


def test_nobody_else_learns_whether_anything_is_there(guarded_api: Api) -> None:
    set_up(guarded_api)
    with browser(guarded_api) as client:
        for path in READ_BY_VIEWERS:
            refused = ask(client, path)
            assert error_of(refused) == (401, "UNAUTHENTICATED"), path
            no_run = path.replace("runs/r", "runs/none", 1)
            no_session = path.replace("sessions/s", "sessions/none", 1)
            for asked in (path, no_run, no_session):
                assert ask(client, asked).text == refused.text
                assert location(client.get(asked)).startswith("/signin?next=/runs")
                assert client.head(asked).status_code == 302


def test_every_route_is_in_the_table() -> None:
    routers = [run_pages.router, session_pages.router, sign_in.router, sign_out.router]
    routers += [provider_sign_in.router]
    routers += [xprof.at_all_places(below) for below in (xprof.routes, xprof_progress.routes)]
    real = {
        str(getattr(route, "path", ""))
        for router in routers
        for route in router.routes
        if not str(getattr(route, "path", "")).startswith("/s/")
    }
    described = {
        path.replace("/runs/r", "/runs/{run}", 1)
        .replace("sessions/s", "sessions/{session}", 1)
        .replace("enter/x", "enter/{rest:path}")
        .replace("progress/data", "progress/{route}")
        .replace("bundle.js", "{name:path}")
        for path in {*READ_BY_VIEWERS, *FOR_EVERYBODY}
    }
    # The index is one of the files by its name, which is empty.
    assert described - real == {"/runs/{run}/sessions/{session}/data/plugin/profile/"}
    assert real - described == set()


def test_nothing_there_can_be_changed(guarded_api: Api) -> None:
    set_up(guarded_api)
    with signed_in(guarded_api, Role.ADMIN) as client:
        for path in READ_BY_VIEWERS:
            for method in ("POST", "PUT", "PATCH", "DELETE"):
                assert client.request(method, path).status_code == 405, (method, path)


def test_a_token_in_the_header_opens_no_page(guarded_api: Api) -> None:
    """Pages are for people; what a browser might send by itself (Basic) must not open them either."""
    set_up(guarded_api)
    authorization = guarded_api.http.headers["Authorization"]
    with browser(guarded_api) as client:
        answer = client.get("/runs", headers={"Authorization": authorization})
        assert location(answer) == "/signin?next=/runs"


def test_each_request_asks_what_the_role_may(guarded_api: Api) -> None:
    """A job's token can't sign in; whose role becomes a job's while he is signed in sees no more than it."""
    set_up(guarded_api)
    token_id, _ = token_for(guarded_api, Role.INGEST)
    now = datetime.now(UTC)
    session = BrowserSession("b", SignInMethod.TOKEN, token_id, None, now, now + timedelta(hours=1))
    SqlBrowserSessions(Database(guarded_api.settings.resolved_database_url)).add(session)
    text = BrowserSeals(guarded_api.settings.secret_key).write_session(session)
    with browser(guarded_api) as client:
        client.cookies.set("xprof-hub", text)
        for path in READ_BY_VIEWERS:
            assert error_of(ask(client, path)) == (403, "PERMISSION_DENIED"), path
            shown = client.get(path)
            assert shown.status_code == 403
            assert "You may not look at this" in shown.text


@pytest.mark.parametrize("method", [SignInMethod.OIDC, SignInMethod.IAP])
def test_a_hub_that_asks_another_party_no_more_trusts_what_it_said_no_more(
    guarded_api: Api, method: SignInMethod
) -> None:
    """An operator who turns a provider off, which may have been broken into, shuts out whom it named."""
    database = Database(guarded_api.settings.resolved_database_url)
    now, ann = datetime.now(UTC), KnownPerson("ann@example.org", "Ann")
    add_member(database, ann.id, Role.ADMIN, "test", now)
    session = session_of_person(ann, method, now, timedelta(hours=1))
    SqlBrowserSessions(database).add(session)
    with browser(guarded_api) as client:
        text = BrowserSeals(guarded_api.settings.secret_key).write_session(session)
        client.cookies.set("xprof-hub", text)
        assert location(client.get("/runs")) == "/signin?next=/runs"
