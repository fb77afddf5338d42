"""Names with every special character work in XProf's page: shown as they are, and asked for as they are."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Response

from tests.browser.conftest import MakeViewer
from tests.services.hub import share
from tests.services.shelf import Shelf

RUN = "run a+b %25 & #1?"
SESSION = "session ü ü, 10:30@x"
HOSTS = ["ALL_HOSTS", "h 1+2 %41 & #?", "ü,ü:@日本"]


def is_table_of(host: str) -> Callable[[Response], bool]:
    """Whether an answer is XProf's table for exactly this host."""

    def check(response: Response) -> bool:
        query = parse_qs(urlsplit(response.url).query)
        return "/data?" in response.url and query.get("host") == [host]

    return check


def test_tools_of_a_session_with_unusual_names(
    shelf: Shelf, demo_session: Path, viewer: MakeViewer
) -> None:
    folder = shelf.new_folder()
    folder.mkdir()
    for host, profile in zip(HOSTS, sorted(demo_session.glob("*.xplane.pb")), strict=False):
        shutil.copyfile(profile, folder / f"{host}.xplane.pb")
    shown = viewer(share(shelf.url, RUN, SESSION, folder))
    shown.open("overview_page")
    bar = shown.page.locator("#xh-bar")
    assert bar.locator("b").inner_text() == RUN
    assert SESSION in bar.locator("span").first.inner_text()
    assert bar.locator("summary").inner_text() == "3 hosts"
    for host in HOSTS:
        with shown.page.expect_response(is_table_of(host)) as answer:
            shown.open("hlo_stats", run=SESSION, host=host)
        assert answer.value.status == 200
        shown.page.locator("table tbody tr").first.wait_for()
        first = shown.page.locator("table tbody tr").first.inner_text()
        assert first.strip()
    assert shown.outside == []
    assert shown.errors == []
