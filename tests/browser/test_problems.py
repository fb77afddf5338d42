"""What can't be shown is said in words: never an empty page, never a wait without end."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.browser.conftest import MakeViewer
from tests.services.shelf import Shelf

SENTENCE = "The file ends in the middle of a record."


def cut(path: Path) -> None:
    """Leaves half of a file, as an upload does that broke off an hour ago."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    then = time.time() - 3600
    os.utime(path, (then, then))


def test_damaged_host_is_named_and_the_others_are_shown(
    shelf: Shelf, small_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.place(small_session)
    first, second = sorted(folder.glob("*.xplane.pb"))
    cut(second)
    shown = viewer(shelf.share(folder))
    shown.open("hlo_stats", host=first.name.removesuffix(".xplane.pb"))
    summary = shown.wait_for("#xh-hosts.xh-warn summary")
    assert summary.inner_text() == "1 of 2 hosts"
    summary.click()
    assert second.name.removesuffix(".xplane.pb") in shown.wait_for("#xh-hosts li").inner_text()
    shown.wait_for(".xh-table tbody tr")


def test_session_without_a_readable_host_says_so(
    shelf: Shelf, small_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.place(small_session)
    paths = sorted(folder.glob("*.xplane.pb"))
    for path in paths:
        cut(path)
    shown = viewer(shelf.share(folder))
    shown.open("overview_page")
    message = shown.wait_for("main.xh-message").inner_text()
    assert "This profile can" in message
    for path in paths:
        assert path.name in message


def test_empty_session_says_so(shelf: Shelf, small_session: Path, viewer: MakeViewer) -> None:
    folder = shelf.place(small_session)
    link = shelf.share(folder)
    for path in folder.glob("*.xplane.pb"):
        path.unlink()
    shown = viewer(link)
    shown.open("overview_page")
    assert shown.wait_for("main.xh-message h1").inner_text() == "This session holds no profile"


def test_failed_view_shows_the_servers_sentence_and_file(
    demo_link: str, viewer: MakeViewer
) -> None:
    answer = {"error": {"message": SENTENCE, "details": [{"file": "w-0.xplane.pb"}]}}

    def refuse(route: Route) -> None:
        route.fulfill(status=422, content_type="application/json", body=json.dumps(answer))

    shown = viewer(demo_link)
    shown.page.route("**/data?*tag=hlo_stats*", refuse)
    shown.open("hlo_stats")
    notice = shown.wait_for(".xh-notice")
    assert SENTENCE in notice.inner_text()
    assert "w-0.xplane.pb" in notice.inner_text()
    # XProf's own account would show the address with the link's token.
    assert "xph_" not in shown.page.locator("app").inner_text()


@pytest.mark.parametrize("status", [500, 503])
def test_notice_goes_with_the_view_that_failed(
    demo_link: str, viewer: MakeViewer, status: int
) -> None:
    shown = viewer(demo_link)
    shown.page.route(
        "**/data?*tag=hlo_stats*", lambda route: route.fulfill(status=status, body="no more")
    )
    shown.open("hlo_stats")
    shown.wait_for(".xh-notice")
    shown.page.locator("mat-select", has_text="HLO Op Stats").click()
    shown.page.locator("mat-option", has_text="Overview Page").click()
    shown.page.locator(".xh-notice").wait_for(state="detached")
    shown.page.get_by_text("Performance Summary").first.wait_for()


def test_failed_trace_is_said_around_its_frame(demo_link: str, viewer: MakeViewer) -> None:
    answer = {"error": {"message": SENTENCE}}

    def refuse(route: Route) -> None:
        route.fulfill(status=422, content_type="application/json", body=json.dumps(answer))

    shown = viewer(demo_link)
    shown.page.route("**/data?*tag=trace_viewer*", refuse)
    shown.open("trace_viewer@")
    assert SENTENCE in shown.wait_for(".xh-notice").inner_text()


def test_graph_of_an_op_that_is_not_there_says_so(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(demo_link)
    module = next(name for name in shown.get("module_list").split(",") if "train" in name)
    shown.open("graph_viewer", module_name=module, node_name="no-such-op")
    shown.wait_for("iframe#graph-html")
    status = shown.page.frame_locator("#graph-html").locator("#graph-status.failed")
    status.wait_for()
    assert "no-such-op" in status.inner_text()


def test_unknown_link_says_so(demo_link: str, viewer: MakeViewer) -> None:
    shown = viewer(f"{demo_link[:-1]}{'A' if demo_link[-1] != 'A' else 'B'}")
    shown.page.goto(shown.base)
    assert shown.wait_for("h1").inner_text() == "There is nothing at this address"
