"""The Compare page in a browser: its numbers are the API's, it fills itself, and everybody can use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.contract.api_calls import attach, create_run, write_profile
from tests.known_figures import figures, keep_figures
from tests.services.api import Api, ApiServers

HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
LONG = "jit(train_step)/" + "transpose(jvp(layer))/" * 10 + "dot_general"
PAIR = "/compare?left=before/s&right=after/s"


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A development server with two sessions, whose figures are known."""
    api = api_servers.get("sqlite", "dev")
    for run, batch in (("before", "256"), ("after", HOSTILE)):
        configs = {"userConfigs": {"batch": batch, "seed": 1, LONG: True}}
        create_run(api, run, displayName=f"Run {run} {HOSTILE}", configs=configs)
        assert attach(api, run, write_profile(api, "s", log_directory=run)).status_code == 200
    old = figures(1.0, 3.0, ops={"add": 81.25, HOSTILE: 40.0, LONG: 3.5})
    new = figures(3.1, 3.3, 9.0, ops={"add": 160.0, "new": 8.0, LONG: 3.0})
    keep_figures(api, "before", "s", old)
    keep_figures(api, "after", "s", new)
    return api


@pytest.fixture
def shown(browser: Browser) -> Iterator[Page]:
    """A page that notes what the browser complains about; axe may be put into it."""
    context = browser.new_context(bypass_csp=False, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(20_000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page
    assert complaints == []
    context.close()


def comparison(api: Api) -> Any:
    answer = httpx2.get(
        f"{api.url}/v1/comparisons", params={"left": "before/s", "right": "after/s"}
    )
    assert answer.status_code == 200
    return answer.json()


def row_of(page: Page, name: str) -> list[str]:
    """Texts of the cells of the row with this head."""
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name)).first
    return [" ".join(text.split()) for text in row.get_by_role("cell").all_inner_texts()]


def test_the_numbers_are_those_of_the_api(api: Api, shown: Page) -> None:
    found = comparison(api)
    shown.goto(f"{api.url}{PAIR}")
    for label, name in (
        ("Average", "averageMs"),
        ("Median", "medianMs"),
        ("90th percentile", "p90Ms"),
        ("Longest", "longestMs"),
    ):
        change = found["stepTime"][name]
        left, right, difference = row_of(shown, label)
        assert (left, right) == (f"{change['left']:.3f} ms", f"{change['right']:.3f} ms")
        assert difference == f"+{change['difference']:.3f} ms +{change['percent']:.1f} %"
    for op in found["ops"]:
        if op["standing"] == "BOTH":
            cells = row_of(shown, op["name"])
            decimals = 2 if op["name"] == "add" else 4
            assert cells[0] == f"{op['timeUs']['left']:.{decimals}f} µs"
            assert cells[1] == f"{op['timeUs']['right']:.{decimals}f} µs"
            assert cells[3] == f"{100 * op['leftShare']:.1f} %"
    percent = found["stepTime"]["averageMs"]["percent"]
    expect(shown.get_by_text(f"Steps take {percent:.1f} % longer on the right.")).to_be_visible()
    assert HOSTILE in shown.inner_text("#operations")
    assert shown.locator("main img").count() == 0
    # Curves of both sides are on one scale: the left side's longest step is a third of the right one's.
    heights = [path.bounding_box() for path in shown.locator(".compare-side .spark polygon").all()]
    assert heights[0] and heights[1]
    assert heights[0]["height"] / heights[1]["height"] == pytest.approx(1 / 3, abs=0.05)


def test_sessions_are_found_chosen_and_swapped(api: Api, shown: Page) -> None:
    shown.goto(f"{api.url}/compare")
    shown.get_by_role("searchbox").fill("run before")
    expect(shown.get_by_role("row")).to_have_count(2)
    shown.get_by_role("link", name="s", exact=True).click()
    expect(shown.get_by_text("is on the left")).to_be_visible()
    shown.get_by_role("link", name="s", exact=True).click()
    expect(shown.get_by_text("longer on the right")).to_be_visible()
    shown.get_by_role("link", name="Swap").click()
    expect(shown.get_by_text("less time on the right")).to_be_visible()
    assert shown.url.endswith("/compare?left=after/s&right=before/s")


def test_a_page_fills_itself_when_the_figures_are_there(api: Api, shown: Page) -> None:
    attach(api, "after", write_profile(api, "t", log_directory="t"))
    shown.goto(f"{api.url}/compare?left=before/s&right=after/t")
    expect(shown.get_by_text("The figures are being made.")).to_be_visible()
    keep_figures(api, "after", "t", figures(2.0, 2.0, ops={"add": 10.0}))
    expect(shown.get_by_text("Steps take as long on both sides.")).to_be_visible()
    assert shown.url.endswith("right=after/t")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_and_fits_a_phone(api: Api, browser: Browser, scheme: Any) -> None:
    context = browser.new_context(
        bypass_csp=True, color_scheme=scheme, viewport={"width": 360, "height": 740}
    )
    page = context.new_page()
    for path in (PAIR, "/compare"):
        page.goto(f"{api.url}{path}")
        page.get_by_role("heading", level=1).wait_for()
        for fold in page.locator("main details").all():
            fold.evaluate("element => element.open = true")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, path
        found = Axe().run(page).response["violations"]
        assert [one for one in found if one["impact"] in {"serious", "critical"}] == []
    context.close()
