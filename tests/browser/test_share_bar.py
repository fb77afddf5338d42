"""The share bar: copying, what it says of the link, the keyboard, narrow screens, names that attack."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import MakeViewer
from tests.browser.modules import Modules

HOST = "t1v-n-3c1f2ab0-w-1"
ATTACK = "\"'><img src=x onerror=alert(1)></script><script>alert(2)</script>`+alert(3)+`"
BLOCK = re.compile(r'(<script type="application/json" id="xh-page">).*?(</script>)', re.DOTALL)
UNTIL = """const { untilText } = await load("bar/dates.js");
return untilText(argument[0], Date.parse(argument[1]));"""


def say(page: Page, **changes: object) -> None:
    """Lets the page know other things about the link than the server says."""

    def answer(route: Route) -> None:
        response = route.fetch()
        text = response.text()
        found = BLOCK.search(text)
        assert found is not None
        data = json.loads(found[0].removeprefix(found[1]).removesuffix(found[2])) | changes
        block = json.dumps(data).replace("<", "\\u003c")
        route.fulfill(
            response=response, body=BLOCK.sub(lambda m: f"{m[1]}{block}{m[2]}", text, count=1)
        )

    page.route(re.compile(r"/data/plugin/profile/\?"), answer)


def sessions(count: int, name: str = "step") -> list[dict[str, object]]:
    return [
        {
            "id": f"s{number}",
            "name": f"{name} {number}",
            "href": f"/s/token/sessions/s{number}/data/plugin/profile/",
            "created": "2026-11-29T10:00:00Z",
            "current": number == 1,
        }
        for number in range(count)
    ]


@pytest.mark.parametrize("has_clipboard", [True, False])
def test_copy_gives_the_address_of_the_view(
    demo_link: str, viewer: MakeViewer, page: Page, has_clipboard: bool
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not has_clipboard:  # as on a page without TLS
        hide = "Object.defineProperty(navigator, 'clipboard', {get: () => undefined})"
        page.add_init_script(
            f"const kept = navigator.clipboard; window.paste = () => kept.readText(); {hide}"
        )
    shown = viewer(demo_link)
    shown.open("hlo_stats", host=HOST)
    page.wait_for_url("**/hlo_stats?**")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("status").filter(has_text="Link copied")).to_have_count(1)
    expect(page.locator("#xh-copy .xh-done").last).to_be_visible()
    copied = page.evaluate("window.paste ? window.paste() : navigator.clipboard.readText()")
    assert copied == page.url
    assert f"host={HOST}" in copied
    assert shown.complaints() == {}


@pytest.mark.parametrize(
    ("expires", "now", "text"),
    [
        ("2026-12-30T12:00:00Z", "2026-11-30T12:00:00Z", "works until 30 December 2026"),
        ("2026-12-01T12:00:00Z", "2026-11-30T12:30:00Z", "works for 23 more hours"),
        ("2026-12-01T12:00:00Z", "2026-12-01T10:59:00Z", "works for 1 more hour"),
        ("2026-12-01T12:00:00Z", "2026-12-01T11:30:30Z", "works for 30 more minutes"),
        ("2026-12-01T12:00:00Z", "2026-12-01T12:00:00Z", "no longer works"),
        (None, "2026-12-01T12:00:00Z", ""),
    ],
)
def test_how_long_a_link_works(modules: Modules, expires: str | None, now: str, text: str) -> None:
    assert modules.run(UNTIL, [expires, now]) == text


def test_the_panel_says_everything_and_closes_by_key(
    demo_link: str, viewer: MakeViewer, page: Page
) -> None:
    say(
        page,
        sharedBy="alice",
        note="Look at\nstep 400",
        expires="2099-12-30T12:00:00Z",
        redacted=True,
    )
    shown = viewer(demo_link)
    shown.open("overview_page")
    expect(page.locator("#xh-sharing")).to_have_text(
        "Shared by alice · works until 30 December 2099"
    )
    names = page.locator("#xh-about")
    names.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="About this profile")
    expect(panel).to_be_visible()
    assert names.get_attribute("aria-expanded") == "true"
    told = panel.locator("dd").all_inner_texts()
    assert "pseudonyms" in told.pop(2)
    assert told == [
        "demo", "four hosts", "Look at\nstep 400", "alice", "Works until 30 December 2099",
    ]  # fmt: skip
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(names).to_be_focused()
    assert names.get_attribute("aria-expanded") == "false"


def test_sessions_by_keyboard_and_search(demo_link: str, viewer: MakeViewer, page: Page) -> None:
    say(page, sessions=sessions(12), moreSessions=True)
    shown = viewer(demo_link)
    shown.open("hlo_stats", host=HOST)
    page.wait_for_url("**/hlo_stats?**")
    page.get_by_role("button", name="Other sessions of this run").focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog", name="Sessions of this run")
    links = panel.get_by_role("link")
    expect(links).to_have_count(12)
    expect(panel.get_by_role("searchbox")).to_be_focused()
    assert panel.locator("[aria-current=page] span").inner_text() == "step 1"
    page.keyboard.type("11 STEP")
    expect(links).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(links.first).to_be_focused()
    # The tool and the host come along, and no other part of the page makes another address of it.
    href = f"/s/token/sessions/s11/data/plugin/profile/?tag=hlo_stats&host={HOST}"
    assert links.first.get_attribute("href") == href
    page.keyboard.press("ArrowUp")
    expect(panel.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_one_session_offers_no_others(demo_link: str, viewer: MakeViewer, page: Page) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    shown.wait_for("#xh-about")
    assert not page.locator("#xh-sessions").is_visible()


def test_names_that_attack_stay_text(demo_link: str, viewer: MakeViewer, page: Page) -> None:
    say(
        page, run=ATTACK, session=ATTACK, sharedBy=ATTACK, note=ATTACK, sessions=sessions(3, ATTACK)
    )
    shown = viewer(demo_link)
    shown.open("overview_page")
    assert ATTACK in shown.wait_for("#xh-sharing").inner_text()
    page.locator("#xh-about").click()
    assert page.locator("#xh-about-panel dd").all_inner_texts()[:4] == [ATTACK] * 4
    page.locator("#xh-sessions").click()
    assert page.locator("#xh-sessions-panel a span").first.inner_text() == f"{ATTACK} 0"
    assert page.locator("#xh-bar :is(img, script)").count() == 0
    assert shown.complaints() == {}


@pytest.mark.parametrize("width", [320, 375, 700, 860, 1024, 1440, 2560])
def test_the_bar_fits(demo_link: str, viewer: MakeViewer, page: Page, width: int) -> None:
    say(page, sharedBy="somebody with quite a long name", sessions=sessions(3, "long " * 30))
    page.set_viewport_size({"width": width, "height": 700})
    shown = viewer(demo_link)
    shown.open("overview_page")
    brand = shown.wait_for("mat-toolbar").get_by_text(re.compile(r"v\d+\.\d+")).bounding_box()
    copy = page.locator("#xh-copy").bounding_box()
    assert brand is not None
    assert copy is not None
    boxes = page.locator("#xh-bar > :is(p, button, details)").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).filter(box => box.width)"
        ".map(({left, right, top, bottom}) => [left, right, top, bottom]).sort((a, b) => a[0] - b[0])"
    )
    edges = [brand["x"] + brand["width"], *(edge for box in boxes for edge in box[:2]), width]
    assert edges == sorted(edges)  # nothing lies over something else, or outside
    assert all(box[2] >= 0 and box[3] <= 64 for box in boxes)
    if width < 700:
        assert min(copy["width"], copy["height"]) >= 44
    page.locator("#xh-about").click()
    panel = page.locator("#xh-about-panel").bounding_box()
    assert panel is not None
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= width
