"""What a page says of its session's hosts, and that trouble with asking takes no view away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules
from tests.browser.viewer import FIRST_TIME

UNKNOWN = {"state": "unknown", "hosts": [], "problems": [], "warnings": [], "notes": ["Busy."]}


@pytest.mark.parametrize("trouble", ["unknown", "error", "no answer"])
def test_a_status_that_is_not_known_takes_nothing_away_and_is_asked_for_again(
    demo_link: str, viewer: MakeViewer, trouble: str
) -> None:
    shown = viewer(demo_link)
    asked = 0

    def fail_once(route: Route) -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            route.fulfill(json={**UNKNOWN, "state": "ok", "hosts": ["a", "b", "c"], "notes": []})
        elif trouble == "unknown":
            route.fulfill(json=UNKNOWN)
        elif trouble == "error":
            route.fulfill(status=502, body="<html>a proxy's page</html>")
        else:
            route.abort()

    shown.page.route("**/status", fail_once)
    shown.open("overview_page")
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(shown.page.locator("#xh-hosts summary")).to_have_text("3 hosts", timeout=FIRST_TIME)
    assert shown.page.locator("main.xh-message, .xh-notice").count() == 0
    assert not [error for error in shown.errors if "Failed to load resource" not in error]


def test_a_host_with_many_oddities_is_named_once(modules: Modules) -> None:
    script = """
      document.body.innerHTML =
        "<details id='xh-hosts' open><summary></summary><ul></ul></details>";
      const { showHosts } = await load("bar/hosts.js");
      showHosts(argument, false);
      return [...document.querySelectorAll("#xh-hosts li")].map((item) =>
        [...item.children].map((child) => child.textContent));
    """
    about = [("a", "One."), ("b", "Two."), ("a", "<img src=x>")]
    warnings = [{"host": host, "file": f"{host}.pb", "message": text} for host, text in about]
    problems = [{"host": "c", "file": "c.pb", "message": "It ends too early."}]
    status = {
        "hosts": ["a", "b", "c"],
        "problems": problems,
        "warnings": warnings,
        "notes": ["Three of four."],
        "expectedHosts": 4,
    }
    assert modules.run(script, status) == [
        ["Three of four."],
        ["c", "It ends too early."],
        ["a", "One.", "<img src=x>"],
        ["b", "Two."],
    ]
    assert modules.page.locator("#xh-hosts summary").inner_text() == "2 of 4 hosts"


def test_pages_that_follow_a_session_do_not_ask_in_step(modules: Modules) -> None:
    """Of many opened together each waits for a time of its own: at least 5 s, then half as long more."""
    script = """
      const { followStatus } = await load("status.js");
      const waits = [];
      window.setTimeout = (act, milliseconds) => { waits.at(-1).push(milliseconds); queueMicrotask(act); };
      const unknown = () => ({ ok: true, json: async () => ({ state: "unknown" }) });
      let left = 0;
      window.fetch = async () => left-- > 0 ? unknown() : { ok: false, status: 404 };
      for (let page = 0; page < argument; page++) {
        waits.push([]);
        left = 3;
        await followStatus();
      }
      return waits;
    """
    waits = modules.run(script, 400)
    for turn, least in enumerate((5000, 7500, 11_250)):
        asked = sorted(pause[turn] for pause in waits)
        assert least <= asked[0] < 1.1 * least
        assert 1.9 * least < asked[-1] <= 2 * least
