"""Every icon of XProf is drawn as one sign, not as the letters of its name: the smaller font has it."""

from __future__ import annotations

import pytest

from tests.browser.conftest import MakeViewer

ICONS = """() => document.fonts.ready.then(() =>
  [...document.querySelectorAll("mat-icon, .mat-icon, .icon-sm, .icon-md, .icon-lg")]
  .map((icon) => {
    const range = document.createRange();
    range.selectNodeContents(icon);
    const size = parseFloat(getComputedStyle(icon).fontSize);
    return [icon.textContent.trim(), range.getBoundingClientRect().width / size];
  })
  .filter(([name, width]) => name && width > 0))"""
"""The icons that can be seen: name, and width in units of its size. A sign is as wide as it is high."""


@pytest.mark.parametrize("tool", ["overview_page", "op_profile", "hlo_stats"])
def test_icons_are_signs(demo_link: str, viewer: MakeViewer, tool: str) -> None:
    shown = viewer(demo_link)
    shown.open(tool)
    # An idle network is no sign of it: on a busy machine XProf's scripts begin after a pause.
    shown.wait_for("main-page sidenav mat-select")
    shown.page.wait_for_load_state("networkidle")
    icons = shown.page.evaluate(ICONS)
    assert "menu" in dict(icons)
    assert [icon for icon in icons if icon[1] > 1.1] == []
