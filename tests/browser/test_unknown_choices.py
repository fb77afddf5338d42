"""What an address chooses in a tool's menu, and the menu does not have, leaves the menu as it was."""

from __future__ import annotations

import pytest

from tests.browser.conftest import MakeViewer


@pytest.mark.parametrize(
    ("tool", "choice", "value"),
    [
        ("op_profile", "group_by", "nothing"),
        ("memory_viewer", "memory_space", "length"),
    ],
)
def test_the_menu_is_closed(
    demo_link: str, viewer: MakeViewer, tool: str, choice: str, value: str
) -> None:
    shown = viewer(demo_link)
    shown.open(tool, **{choice: value})
    shown.wait_for(f"{tool.replace('_', '-')} mat-select")
    # The entry is looked for for a second, and the menu takes a moment to close.
    shown.page.wait_for_timeout(2500)
    assert shown.page.locator(".mat-mdc-select-panel").count() == 0
    assert shown.page.locator("body.xh-recalling").count() == 0
    assert shown.complaints() == {}
