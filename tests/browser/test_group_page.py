"""The page of run groups in a browser: its form, without scripts too, and how it fits a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.contract.api_calls import create_run
from tests.services.api import ApiServers


@pytest.mark.parametrize("scripts", [True, False])
def test_a_group_is_given_days_and_a_hold(
    browser: Browser, api_servers: ApiServers, scripts: bool
) -> None:
    api = api_servers.get("sqlite", "dev")
    create_run(api, "r", runSet="team/llama")
    context = browser.new_context(
        viewport={"width": 360, "height": 800}, java_script_enabled=scripts
    )
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    try:
        page.goto(f"{api.url}/groups")
        page.get_by_text("Change", exact=True).click()
        page.get_by_label("Days").fill("30")
        page.get_by_label("Note").fill("kept for a month")
        page.get_by_label("Legal hold").check()
        page.get_by_role("button", name="Save").click()
        page.get_by_text("30 days").wait_for()
        assert page.get_by_text("On hold", exact=True).is_visible()
        if scripts:
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width == 360
        assert wrong == []
    finally:
        context.close()
    [group] = api.http.get("/runGroups").json()["runGroups"]
    assert (group["name"], group["sessionDays"], group["held"], group["note"]) == (
        "runGroups/team/llama",
        30,
        True,
        "kept for a month",
    )
