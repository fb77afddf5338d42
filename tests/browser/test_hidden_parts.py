"""What XProf offers that leads nowhere here is not shown."""

from __future__ import annotations

from tests.browser.conftest import MakeViewer


def test_the_button_to_perfetto_is_hidden(demo_link: str, viewer: MakeViewer) -> None:
    # XProf draws it for jobs of several slices only: here is its element without them.
    shown = viewer(demo_link)
    shown.open("overview_page")
    shown.wait_for("svg[role=img]")
    shown.page.evaluate(
        """() => {
          const button = Object.assign(document.createElement("button"), { textContent: "Perfetto" });
          const box = Object.assign(document.createElement("div"), { className: "perfetto-container" });
          box.append(button);
          const tool = document.createElement("megascale-stats");
          tool.append(box);
          document.querySelector("main-page mat-sidenav-content").append(tool);
        }"""
    )
    assert shown.page.locator(".perfetto-container button").count() == 1
    assert not shown.page.locator(".perfetto-container button").is_visible()
