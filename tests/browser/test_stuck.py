"""Whatever fails, the reader gets a sentence: no view is left with something that turns for ever."""

from __future__ import annotations

import json
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import FIRST_TIME, Viewer
from tests.services.hub import HubFactory, HubProcess, copy_of, share

TURNING = ":is(mat-progress-bar, mat-spinner, mat-progress-spinner, .xh-progress):visible"


def expect_words(shown: Viewer, words: str) -> None:
    """Waits for a notice with these words, and looks for whatever else still turns."""
    expect(shown.page.locator(".xh-notice")).to_contain_text(words, timeout=FIRST_TIME)
    expect(shown.page.locator(TURNING)).to_have_count(0, timeout=FIRST_TIME)


def choose(shown: Viewer, tool: str) -> None:
    """Chooses a tool in XProf's menu, as a reader does."""
    menu = shown.page.locator("main-page sidenav mat-select").nth(1)
    if not menu.is_visible():  # XProf folds its side bar when a tool was chosen
        shown.page.locator("button.sidenav-toggle-button").click()
    menu.click()
    shown.page.locator("mat-option", has_text=tool).click()


@pytest.mark.parametrize("name", ["runs", "run_tools", "hosts", "config"])
@pytest.mark.parametrize("trouble", ["error", "no answer"])
def test_a_list_that_fails_is_said_and_can_be_tried_again(
    demo_link: str, viewer: MakeViewer, name: str, trouble: str
) -> None:
    shown = viewer(demo_link)
    is_down = True

    def answer(route: Route) -> None:
        if not is_down:
            route.continue_()
        elif trouble == "error":
            route.fulfill(status=502, content_type="text/html", body="<html>a proxy's page</html>")
        else:
            route.abort()

    shown.page.route(f"**/profile/{name}*", answer)
    shown.open("overview_page")
    expect_words(shown, "502" if trouble == "error" else "did not answer")
    is_down = False
    shown.page.get_by_role("button", name="Try again").click()
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(shown.page.locator(".xh-notice")).to_have_count(0)


def test_nothing_turns_again_when_the_notice_is_put_away(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    shown.page.route("**/profile/runs*", lambda route: route.abort())
    shown.open("overview_page")
    expect_words(shown, "did not answer")
    shown.page.get_by_role("button", name="Dismiss").click()
    expect(shown.page.locator(".xh-notice")).to_have_count(0)
    expect(shown.page.locator(TURNING)).to_have_count(0)


def test_the_version_is_missed_by_nobody(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    shown.page.route("**/profile/version*", lambda route: route.abort())
    shown.open("overview_page")
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(shown.page.locator(".xh-notice")).to_have_count(0)


def test_modules_that_cannot_be_listed_leave_no_word_of_missing_data(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    shown.page.route("**/module_list*", lambda route: route.abort())
    shown.open("memory_viewer")
    expect_words(shown, "did not answer")
    assert "no data" not in shown.page.locator("body").inner_text().lower()


def test_a_server_that_gives_no_sign_is_named_with_the_time(modules: Modules) -> None:
    script = """
      const { describe } = await load("progress.js");
      return describe({ state: "silent" }, 8.4);
    """
    assert modules.run(script) == {
        "heading": "Waiting for the server",
        "text": "No sign of the server for 8 s",
    }


def test_a_fault_has_an_id_that_can_be_copied(modules: Modules) -> None:
    script = """
      const { readFailure } = await load("requests.js");
      const { showNotice } = await load("notice.js");
      const error = { message: "It failed.", details: [{ requestId: "4bf92f3577b34da6" }] };
      showNotice(readFailure({ tool: "" }, 500, JSON.stringify({ error }), null));
      return document.querySelector(".xh-notice .xh-request").textContent;
    """
    assert modules.run(script) == "Request id: 4bf92f3577b34da6"


def test_a_server_that_hangs_is_said_within_seconds(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    shown.page.route("**/profile/runs*", hold)
    shown.page.route("**/progress/*", hold)
    shown.open("overview_page")
    card = shown.page.locator(".xh-progress")
    expect(card).to_contain_text("No sign of the server", timeout=20_000)
    for route in held:
        route.abort()
    expect_words(shown, "did not answer")


def ask(url: str, method: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=30):
        pass


def sessions_url(hub: HubProcess) -> str:
    return f"{hub.url}/v1/machineLearningRuns/run/profilerSessions/session"


@pytest.fixture
def own_hub(hubs: HubFactory, small_session: Path, tmp_path: Path) -> tuple[HubProcess, str]:
    """A hub that a test may break, and a link on it."""
    folder = copy_of(small_session, tmp_path / "session")
    hub = hubs.start({"XPROF_HUB_STORAGE_ROOTS": str(folder)})
    return hub, share(hub.url, "run", "session", folder)


def test_links_and_servers_that_end_while_the_page_is_open(
    own_hub: tuple[HubProcess, str], viewer: MakeViewer
) -> None:
    hub, link = own_hub
    shown = viewer(link)
    shown.open("overview_page")
    shown.page.get_by_text("Performance Summary").first.wait_for()

    with urllib.request.urlopen(f"{sessions_url(hub)}/shareLinks", timeout=30) as response:
        (listed,) = json.load(response)["shareLinks"]
    ask(f"{hub.url}/v1/shareLinks/{listed['name'].rpartition('/')[2]}", "DELETE")
    choose(shown, "HLO Op Stats")
    expect_words(shown, "This link no longer works")

    hub.kill()
    choose(shown, "HLO Op Profile")
    expect_words(shown, "did not answer")
    time.sleep(0.5)
    expect_words(shown, "did not answer")
