"""Sharing in a real browser: from signing in to a link, its QR code, its page, and its end everywhere."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from typing import Literal

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect

from auth.identity import Role
from tests.browser.test_accessibility import THEMES, serious
from tests.browser.test_signing_in import WITHIN, GuardedHub, expect_xprof, hub, sign_in
from tests.browser.viewer import FIRST_TIME

__all__ = ["hub"]
SHARE = "/runs/my%20run/sessions/two%20hosts/share"
SIZES = {"light": {"width": 1280, "height": 900}, "dark": {"width": 360, "height": 780}}


@pytest.fixture
def contexts(browser: Browser) -> Iterator[list[BrowserContext]]:
    """Browsers that know nothing of each other; ended with the test."""
    opened: list[BrowserContext] = []
    yield opened
    for context in opened:
        context.close()


def new_page(
    browser: Browser, contexts: list[BrowserContext], scheme: Literal["light", "dark"] = "light"
) -> Page:
    """A page in a browser of its own, wide and light, or narrow and dark."""
    size = SIZES[scheme]
    context = browser.new_context(
        bypass_csp=True,
        color_scheme=scheme,
        viewport={"width": size["width"], "height": size["height"]},
        reduced_motion="reduce",
    )
    context.set_default_timeout(FIRST_TIME)
    contexts.append(context)
    return context.new_page()


def share(page: Page) -> str:
    """Fills the form that is shown; the new link's address."""
    page.get_by_label("Note").fill("for the review")
    page.get_by_role("button", name="Make link").click()
    expect(page.get_by_role("heading", name="The link is ready")).to_be_visible()
    return page.locator(".share-address code").inner_text()


def read_code(page: Page) -> str:
    """What a camera reads off the screen."""
    picture = page.locator(".qr").screenshot()
    (found,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture)))
    return str(found.text)


def test_from_signing_in_to_a_link_that_is_revoked(
    hub: GuardedHub, browser: Browser, contexts: list[BrowserContext]
) -> None:
    _, token = hub.new_token(Role.EDITOR)
    page = new_page(browser, contexts)
    page.goto(f"{hub.url}{SHARE}?tag=hlo_stats")
    sign_in(page, token)
    expect(page.get_by_label("Open it at this view")).to_be_checked()
    address = share(page)
    assert read_code(page) == address
    visitor = new_page(browser, contexts)
    visitor.goto(address)
    expect_xprof(visitor, "hlo_stats")
    shown = visitor.url.partition("?")[0].removesuffix("hlo_stats")
    assert visitor.request.get(f"{shown}runs").status == 200
    page.get_by_role("link", name="Share", exact=True).click()
    page.get_by_text("Revoke", exact=True).click()
    page.get_by_role("button", name="Revoke for good").click()
    revoked = time.monotonic()
    expect(page.get_by_text("it opens nothing any more")).to_be_visible()
    while visitor.request.get(f"{shown}runs").status != 410:
        assert time.monotonic() - revoked < WITHIN
    visitor.reload()
    assert "two hosts" not in visitor.content()
    expect(visitor.get_by_role("heading")).to_contain_text("no longer")
    assert page.get_by_role("button", name="Revoke").count() == 0


@pytest.mark.parametrize("scheme", THEMES)
def test_the_pages_are_for_everybody_and_every_size(
    hub: GuardedHub,
    browser: Browser,
    contexts: list[BrowserContext],
    scheme: Literal["light", "dark"],
) -> None:
    page = new_page(browser, contexts, scheme)
    found: list[str] = []

    def look() -> None:
        page.get_by_role("heading").first.wait_for()
        found.extend(f"{page.url}: {one}" for one in serious(page))
        wide = page.evaluate("document.scrollingElement.scrollWidth - innerWidth")
        assert wide <= 0, f"{page.url} is {wide} px too wide"

    page.goto(f"{hub.url}{SHARE}?tag=hlo_stats&host=vm0")
    sign_in(page, hub.admin)
    look()
    address = share(page)
    look()
    assert read_code(page) == address
    page.goto(f"{hub.url}/links")
    look()
    page.get_by_text("Revoke", exact=True).first.click()
    look()
    page.get_by_role("link", name="Change").first.click()
    look()
    for path in (SHARE, "/runs/my%20run/share", "/admin/sharing", "/admin/audit"):
        page.goto(f"{hub.url}{path}")
        look()
    assert found == []
