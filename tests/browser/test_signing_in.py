"""Signing in with a token, in a real browser: the way to a profile and back out, on one host and on two."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from auth.identity import Role, create_token
from server.registry.database import Database
from server.registry.tokens import SqlTokenStore
from server.settings import DATABASE_FILE
from tests.browser.viewer import FIRST_TIME, XPROF_OWN_ERRORS
from tests.services.hub import HubFactory
from tests.services.processes import free_port

XPROF = "/data/plugin/profile/"
WITHIN = 5.0
"""Seconds after which a revoked token shows nothing more."""


@dataclass(frozen=True)
class GuardedHub:
    """A hub that asks for tokens, with one session.

    Attributes:
        url: of the hub's own pages.
        dashboard: where the session opens in XProf.
        database: its database's URL.
        admin: an admin's token.
    """

    url: str
    dashboard: str
    database: str
    admin: str

    def new_token(self, role: Role = Role.VIEWER) -> tuple[str, str]:
        """Id and secret of a new token."""
        return new_token(self.database, role)

    def revoke(self, token_id: str) -> None:
        """Revokes a token, as somebody does by the API."""
        answer = httpx2.delete(
            f"{self.url}/v1/apiTokens/{token_id}", headers=bearer(self.admin), trust_env=False
        )
        assert answer.status_code == 200


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def new_token(database: str, role: Role) -> tuple[str, str]:
    opened = Database(database)
    token, secret = create_token(
        SqlTokenStore(opened),
        name="ann",
        role=role,
        creator="test",
        now=datetime.now(UTC),
        expires=None,
    )
    opened.close()
    return token.id, secret


def guarded_hub(folder: Path, session: Path, factory: HubFactory, **settings: str) -> GuardedHub:
    """Starts one and attaches the session."""
    data, port = folder / "data", free_port()
    addresses = {name: value.format(port=port) for name, value in settings.items()}
    env = {
        "XPROF_HUB_AUTH": "token",
        "XPROF_HUB_SECRET_KEY": "of this test",
        "XPROF_HUB_DATA_DIR": str(data),
        "XPROF_HUB_STORAGE_ROOTS": str(session),
    }
    started = factory.start({**env, **addresses}, port=port)
    url = addresses.get("XPROF_HUB_BASE_URL", started.url)
    database = f"sqlite:///{data / DATABASE_FILE}"
    _, admin = new_token(database, Role.ADMIN)
    with httpx2.Client(base_url=f"{url}/v1", headers=bearer(admin), trust_env=False) as api:
        created = api.post(
            "/machineLearningRuns", params={"machineLearningRunId": "my run"}, json={}
        )
        created.raise_for_status()
        answer = api.post(
            "/machineLearningRuns/my%20run/profilerSessions",
            params={"profilerSessionId": "two hosts"},
            json={"storageFolderUri": str(session)},
        )
        uri = str(answer.raise_for_status().json()["dashboardUri"])
    return GuardedHub(url, uri, database, admin)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, small_session: Path) -> Iterator[GuardedHub]:
    folder = tmp_path_factory.mktemp("guarded")
    factory = HubFactory(folder)
    try:
        yield guarded_hub(folder, small_session, factory)
    finally:
        factory.stop_all()


@pytest.fixture(scope="module")
def split_hub(
    tmp_path_factory: pytest.TempPathFactory, small_session: Path
) -> Iterator[GuardedHub]:
    """Its own pages at `localhost`, profiles at `127.0.0.1`."""
    folder = tmp_path_factory.mktemp("split")
    factory = HubFactory(folder)
    addresses = {
        "XPROF_HUB_BASE_URL": "http://localhost:{port}",
        "XPROF_HUB_CONTENT_URL": "http://127.0.0.1:{port}",
    }
    try:
        yield guarded_hub(folder, small_session, factory, **addresses)
    finally:
        factory.stop_all()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Page]:
    """A page in a browser of its own, which has signed in nowhere."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(FIRST_TIME)
    yield context.new_page()
    context.close()


def complaints(page: Page) -> list[str]:
    """A list that gets what the console reports as an error, except what XProf says itself."""
    found: list[str] = []
    page.on(
        "console",
        lambda message: (
            found.append(message.text)
            if message.type == "error" and not XPROF_OWN_ERRORS.match(message.text)
            else None
        ),
    )
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("API token").fill(token)
    page.get_by_role("button", name="Sign in").click()


def expect_xprof(page: Page, tool: str) -> None:
    """Waits for XProf's own page with its list of tools, and a table of data."""
    page.wait_for_url(f"**{XPROF}{tool}**")
    expect(
        page.locator("hlo-stats .google-visualization-table-table, hlo-stats table").first
    ).to_be_visible()


def test_one_signs_in_and_arrives_at_the_profile(hub: GuardedHub, visitor: Page) -> None:
    _, token = hub.new_token()
    noted = complaints(visitor)
    visitor.goto(f"{hub.dashboard}?tag=hlo_stats")
    assert urlsplit(visitor.url).path == "/signin"
    sign_in(visitor, token)
    expect_xprof(visitor, "hlo_stats")
    assert visitor.url.startswith(hub.dashboard)
    assert noted == []
    assert token not in visitor.url
    assert visitor.evaluate("document.cookie") == ""


def test_a_wrong_token_is_said_to_be_one(hub: GuardedHub, visitor: Page) -> None:
    visitor.goto(f"{hub.url}/runs")
    sign_in(visitor, "xpa_wrong")
    expect(visitor.get_by_role("alert")).to_contain_text("no API token that works here")
    _, token = hub.new_token()
    sign_in(visitor, token)
    expect(visitor.get_by_role("heading", name="Runs")).to_be_visible()


def test_from_the_list_of_runs_to_a_session_and_out(hub: GuardedHub, visitor: Page) -> None:
    _, token = hub.new_token()
    visitor.goto(f"{hub.url}/runs")
    sign_in(visitor, token)
    visitor.get_by_role("link", name="my run").click()
    visitor.get_by_role("link", name="two hosts").click()
    visitor.get_by_role("link", name="Open in XProf").click()
    visitor.wait_for_url(f"{hub.dashboard}**")
    visitor.goto(f"{hub.url}/runs/my%20run")
    visitor.locator(".top-person > summary").click()
    expect(visitor.get_by_text("Signed in as ann")).to_be_visible()
    visitor.get_by_role("button", name="Sign out").click()
    expect(visitor.get_by_role("heading", name="You are signed out")).to_be_visible()
    visitor.get_by_role("link", name="Sign in again").click()
    expect(visitor.get_by_role("heading", name="Sign in")).to_be_visible()
    visitor.goto(hub.dashboard)
    assert urlsplit(visitor.url).path == "/signin"


@pytest.mark.parametrize("kind", ["hub", "split_hub"])
def test_who_loses_the_token_is_out_within_five_seconds(
    request: pytest.FixtureRequest, kind: str, visitor: Page
) -> None:
    hub: GuardedHub = request.getfixturevalue(kind)
    token_id, token = hub.new_token()
    visitor.goto(f"{hub.dashboard}?tag=hlo_stats")
    sign_in(visitor, token)
    expect_xprof(visitor, "hlo_stats")
    shown = visitor.url.partition("?")[0].removesuffix("hlo_stats")
    assert visitor.request.get(f"{shown}runs").status == 200
    hub.revoke(token_id)
    revoked = time.monotonic()
    while visitor.request.get(f"{shown}runs").status == 200:
        assert time.monotonic() - revoked < WITHIN
    # What is open says so when it asks for more, and opening it again asks for a token.
    visitor.reload()
    assert urlsplit(visitor.url).path == "/signin"
    assert visitor.url.startswith(hub.url)


def test_a_profile_is_shown_where_nobody_is_signed_in(split_hub: GuardedHub, visitor: Page) -> None:
    _, token = split_hub.new_token()
    noted = complaints(visitor)
    visitor.goto(f"{split_hub.dashboard}?tag=hlo_stats")
    assert visitor.url.startswith(f"{split_hub.url}/signin")
    sign_in(visitor, token)
    expect_xprof(visitor, "hlo_stats")
    assert urlsplit(visitor.url).hostname == "127.0.0.1"
    assert "grant" not in visitor.url
    assert noted == []
    kept = {cookie["domain"]: cookie["path"] for cookie in visitor.context.cookies()}
    assert kept == {
        "localhost": "/",
        "127.0.0.1": urlsplit(split_hub.dashboard).path.removesuffix(XPROF),
    }
    # Its address, copied, leads another browser to sign in, and this one straight back.
    visitor.goto(visitor.url)
    expect_xprof(visitor, "hlo_stats")
    visitor.context.clear_cookies(domain="127.0.0.1")
    visitor.reload()
    expect_xprof(visitor, "hlo_stats")
    assert urlsplit(visitor.url).hostname == "127.0.0.1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_for_everybody(hub: GuardedHub, browser: Browser, scheme: str) -> None:
    _, token = hub.new_token()
    context = browser.new_context(
        bypass_csp=True, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    found: list[str] = []

    def look() -> None:
        page.get_by_role("heading").first.wait_for()
        found.extend(str(finding["id"]) for finding in Axe().run(page).response["violations"])

    page.goto(f"{hub.url}/runs")
    look()
    sign_in(page, "wrong")
    look()
    sign_in(page, token)
    look()
    page.goto(f"{hub.url}/runs/my%20run")
    look()
    context.close()
    assert found == []


@pytest.mark.parametrize("answer", ["Let it in", "Refuse"])
def test_a_program_is_let_in_with_a_token_and_refused_without(
    hub: GuardedHub, visitor: Page, answer: str
) -> None:
    _, token = hub.new_token()
    with httpx2.Client(base_url=f"{hub.url}/v1", trust_env=False) as program:
        code = program.post("/deviceCodes", json={"displayName": "me@laptop"}).json()
        visitor.goto(code["verificationUriComplete"])
        sign_in(visitor, token)
        expect(visitor.get_by_text("me@laptop")).to_be_visible()
        assert Axe().run(visitor).response["violations"] == []
        # Having signed in is not enough: the browser does not even send the form without a token.
        visitor.get_by_role("button", name="Let it in").click()
        expect(visitor.get_by_text("me@laptop")).to_be_visible()
        if answer == "Let it in":
            visitor.get_by_label("API token").fill(token)
        visitor.get_by_role("button", name=answer).click()
        heading = "It is signed in" if answer == "Let it in" else "It was refused"
        expect(visitor.get_by_role("heading", name=heading)).to_be_visible()
        exchanged = program.post("/deviceCodes:exchange", json={"deviceCode": code["deviceCode"]})
    assert exchanged.status_code == (200 if answer == "Let it in" else 400)
