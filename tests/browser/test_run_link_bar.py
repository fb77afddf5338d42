"""A link to a run: the bar leads from session to session, and keeps what is shown."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import FIRST_TIME
from tests.services.hub import post, share
from tests.services.shelf import Shelf

HOST = "t1v-n-3c1f2ab0-w-1"


@pytest.fixture(scope="module")
def run_link(shelf: Shelf, small_session: Path) -> str:
    """Link to a run of two sessions."""
    first, second = (shelf.place(small_session) for _ in range(2))
    share(shelf.url, "two sessions", "first", first)
    run = f"{shelf.url}/v1/machineLearningRuns/two%20sessions"
    post(f"{run}/profilerSessions?profilerSessionId=second", {"storageFolderUri": str(second)})
    return str(post(f"{run}/shareLinks", {})["uri"])


def test_the_menu_leads_to_another_session(run_link: str, viewer: MakeViewer, page: Page) -> None:
    shown = viewer(run_link)
    page.goto(f"{run_link}?tag=hlo_stats&host={HOST}")
    page.wait_for_url("**/hlo_stats?**")
    names = page.locator("#xh-about .xh-two-lines > span")
    assert names.inner_text() == "second"
    assert urlsplit(page.url).path.endswith("/sessions/second/data/plugin/profile/hlo_stats")
    assert page.locator("#xh-sessions .xh-count").inner_text() == "1"
    page.locator("#xh-sessions").click()
    page.locator("#xh-sessions-panel").get_by_role("link", name="first").click()
    page.wait_for_url("**/sessions/first/data/plugin/profile/hlo_stats?**")
    assert names.inner_text() == "first"
    assert dict(parse_qsl(urlsplit(page.url).query))["host"] == HOST
    menus = page.locator("mat-select")
    expect(menus.get_by_text(HOST, exact=True).first).to_be_visible(timeout=FIRST_TIME)
    expect(menus.get_by_text("HLO Op Stats", exact=True).first).to_be_visible()
    assert shown.errors == []
    assert shown.outside == [f"{run_link}?tag=hlo_stats&host={HOST}"]
