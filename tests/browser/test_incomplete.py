"""A session that is still being uploaded: the page says so, looks again, and shows what has come."""

from __future__ import annotations

import os
import time
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import MakeViewer
from tests.browser.viewer import FIRST_TIME
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import post
from tests.services.shelf import Shelf


def test_a_file_that_is_still_uploading_is_waited_for(
    shelf: Shelf, small_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.place(small_session)
    first, second = sorted(folder.glob("*.xplane.pb"))
    first.unlink()
    whole = second.read_bytes()
    second.write_bytes(whole[: len(whole) // 2])
    shown = viewer(shelf.share(folder))
    shown.open("overview_page")
    notice = shown.wait_for(".xh-notice.xh-passing")
    expect(notice).to_contain_text("This file may still be uploading")
    expect(notice).to_contain_text("Trying again in ")
    expect(notice).to_contain_text(second.name)
    second.write_bytes(whole)
    shown.page.get_by_text("Performance Summary").first.wait_for()
    expect(shown.page.locator(".xh-notice")).to_have_count(0)


def test_hosts_that_are_to_come_are_counted_and_offered_when_they_are_there(
    shelf: Shelf, small_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.place(small_session)
    second = max(folder.glob("*.xplane.pb"))
    late = second.read_bytes()
    second.unlink()
    runs = f"{shelf.url}/v1/machineLearningRuns"
    post(f"{runs}?machineLearningRunId={folder.name}", {})
    sessions = f"{runs}/{folder.name}/profilerSessions"
    where = {"storageFolderUri": str(folder), "expectedHosts": 2}
    post(f"{sessions}?profilerSessionId=s", where)
    link = str(post(f"{sessions}/s/shareLinks", {})["uri"])
    answer = get(f"{link}{PROFILE_PATH}/data?tag=overview_page&host=ALL_HOSTS")
    assert "1 of 2 hosts" in answer.headers["x-xprof-hub-warnings"]
    shown = viewer(link)
    shown.open("overview_page")
    summary = shown.page.locator("#xh-hosts summary")
    expect(summary).to_have_text("1 of 2 hosts", timeout=FIRST_TIME)
    second.write_bytes(late)
    expect(summary).to_have_text("2 hosts · 1 note", timeout=FIRST_TIME)
    summary.click()
    shown.page.locator("#xh-hosts").get_by_role("button", name="Show it").click()
    expect(summary).to_have_text("2 hosts", timeout=FIRST_TIME)


def test_a_host_that_is_odd_has_a_note(
    shelf: Shelf, small_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.place(small_session)
    first, second = sorted(folder.glob("*.xplane.pb"))
    # The same plane again: the inspection passes it with a warning.
    second.write_bytes(second.read_bytes() + second.read_bytes())
    shown = viewer(shelf.share(folder))
    shown.open("hlo_stats", host=first.name.removesuffix(".xplane.pb"))
    summary = shown.page.locator("#xh-hosts summary")
    expect(summary).to_contain_text("2 hosts · ", timeout=FIRST_TIME)
    summary.click()
    assert second.name.removesuffix(".xplane.pb") in shown.wait_for("#xh-hosts li").inner_text()


def age(folder: Path) -> None:
    """Makes files look as if they had been written long ago, so that none seems to be uploading."""
    then = time.time() - 3600
    for path in folder.iterdir():
        os.utime(path, (then, then))


def test_a_file_that_ended_too_early_long_ago_is_not_waited_for(
    shelf: Shelf, small_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.place(small_session)
    for path in folder.glob("*.xplane.pb"):
        path.write_bytes(path.read_bytes()[:1000])
    age(folder)
    shown = viewer(shelf.share(folder))
    shown.open("overview_page")
    assert "This profile can" in shown.wait_for("main.xh-message").inner_text()
