"""Light, dark or as the system: before anything is drawn, on XProf's page too, and kept."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

FILTER = "() => getComputedStyle(document.querySelector('app')).filter"
SHOWN = "() => document.documentElement.dataset.xhTheme"


@pytest.mark.parametrize(
    ("system", "choice", "shown"),
    [
        ("light", None, "light"),
        ("dark", None, "dark"),
        ("dark", "light", "light"),
        ("light", "dark", "dark"),
        ("dark", "nonsense", "dark"),
    ],
)
def test_the_choice_comes_before_the_system(
    browser: Browser, demo_link: str, system: str, choice: str | None, shown: str
) -> None:
    context = browser.new_context(color_scheme="dark" if system == "dark" else "light")
    page = context.new_page()
    page.route("**/bundle.js", lambda route: route.abort())
    page.goto(f"{demo_link}/data/plugin/profile/")
    if choice is not None:
        page.evaluate("(choice) => localStorage.setItem('xprof-hub-theme', choice)", choice)
        page.reload()
    assert page.evaluate(SHOWN) == shown
    assert (page.evaluate(FILTER) == "none") is (shown == "light")
    context.close()


def test_the_second_trace_viewer_can_t_be_chosen(page: Page, demo_link: str) -> None:
    page.route("**/bundle.js", lambda route: route.abort())
    page.goto(f"{demo_link}/data/plugin/profile/")
    page.evaluate("() => localStorage.setItem('use_trace_viewer_v2', 'true')")
    page.goto(f"{demo_link}/data/plugin/profile/?tag=trace_viewer@&use_trace_viewer_v2=true")
    assert "use_trace_viewer_v2" not in page.url
    assert page.evaluate("() => localStorage.getItem('use_trace_viewer_v2')") is None
