"""The browser of all these tests reaches our server only, and what it tries beyond is noticed.

That every tool works all the same, and tries nothing, is what each tool's own test says (`complaints`).
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Error

from tests.browser.conftest import MakeViewer
from tests.browser.reading import wait_until

ELSEWHERE = ["http://www.example.com/", "http://192.0.2.1/"]


@pytest.mark.parametrize("address", ELSEWHERE)
def test_no_other_host_can_be_reached(demo_link: str, viewer: MakeViewer, address: str) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        viewer(demo_link).page.goto(address)


def test_a_try_to_reach_another_host_is_noticed_and_forbidden(
    demo_link: str, viewer: MakeViewer
) -> None:
    shown = viewer(demo_link)
    shown.open("overview_page")
    shown.wait_for("svg[role=img]")
    assert shown.complaints() == {}
    shown.page.evaluate(
        "(address) => { document.body.append(Object.assign(new Image(), { src: address })); }",
        ELSEWHERE[0],
    )
    said = wait_until(shown.page, lambda: next(iter(shown.errors), None))
    assert "Content Security Policy" in said
