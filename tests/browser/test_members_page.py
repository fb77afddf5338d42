"""Signing in at a provider in a real browser, the page of members, and what a removed member still sees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.services.api import Api, api_settings, serve_api
from tests.services.oidc import CLIENT_ID, CLIENT_SECRET, serve_oidc
from tests.services.processes import free_port

ACCOUNTS: dict[str, dict[str, object]] = {
    "root": {"email": "root@example.com", "email_verified": True, "name": "Root"},
    "ann": {"email": "ann@example.org", "email_verified": True, "name": "Ann"},
}
NARROW = 360
"""Pixels of a phone's width."""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder, port = tmp_path_factory.mktemp("members"), free_port()
    settings = api_settings(
        folder,
        auth="oidc",
        oidc_issuer=f"http://127.0.0.1:{port}",
        oidc_client_id=CLIENT_ID,
        oidc_client_secret=CLIENT_SECRET,
        admins="root@example.com",
    )
    with serve_api(settings) as api:
        back = f"{api.url}/signin/callback"
        with serve_oidc(folder, back, ACCOUNTS, port):
            yield api


@pytest.fixture
def contexts(browser: Browser) -> Iterator[list[BrowserContext]]:
    """Two browsers of two people."""
    made = [browser.new_context(viewport={"width": 1280, "height": 800}) for _ in range(2)]
    yield made
    for context in made:
        context.close()


def sign_in(page: Page, hub: Api, login: str) -> None:
    """From the hub's page to the provider's forms, and back."""
    page.goto(f"{hub.url}/runs")
    page.get_by_role("link", name="Sign in with 127.0.0.1").click()
    page.locator('input[name="login"]').fill(login)
    page.locator('input[name="password"]').fill("any")
    page.locator('button[type="submit"]').click()
    page.locator('input[name="prompt"][value="consent"]').wait_for(state="attached")
    page.locator('button[type="submit"]').click()


def is_sound(page: Page) -> None:
    """Whether people with a disability, and those with a phone, can use the page."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.set_viewport_size({"width": NARROW, "height": 740})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= NARROW
    page.set_viewport_size({"width": 1280, "height": 800})


def test_from_the_provider_to_a_role_and_out_again(
    hub: Api, contexts: list[BrowserContext]
) -> None:
    admin, ann = (context.new_page() for context in contexts)
    ann.goto(f"{hub.url}/signin")
    is_sound(ann)
    sign_in(ann, hub, "ann")
    expect(ann.get_by_role("alert")).to_contain_text("ann@example.org has no role here")
    is_sound(ann)

    sign_in(admin, hub, "root")
    expect(admin).to_have_url(f"{hub.url}/runs")
    admin.goto(f"{hub.url}/admin/members")
    expect(admin.get_by_role("cell", name="XPROF_HUB_ADMINS")).to_be_visible()
    admin.get_by_label("Member").fill("ann@example.org")
    admin.get_by_role("button", name="Add").click()
    row = admin.get_by_role("row").filter(has_text="ann@example.org").filter(has_text="viewer")
    expect(row).to_be_visible()
    is_sound(admin)

    ann.get_by_role("link", name="Sign in with 127.0.0.1").click()
    ann.wait_for_url(f"{hub.url}/**")
    ann.goto(f"{hub.url}/runs")
    expect(ann.get_by_role("heading", level=1)).to_have_text("Runs")

    row.get_by_text("Change").click()
    row.get_by_role("button", name="Remove the role").click()
    expect(row).to_have_count(0)
    ann.reload()
    expect(ann.get_by_role("heading", level=1)).to_have_text("Sign in")
