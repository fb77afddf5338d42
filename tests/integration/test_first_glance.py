"""The first glance of a link's page: there once the overview is converted, and never waited for."""

from __future__ import annotations

import html
import json
import re
import urllib.parse
from pathlib import Path

from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import DemoHub
from tests.services.shelf import Shelf

OVERVIEW = {"tag": "overview_page", "host": "ALL_HOSTS"}


def page_of(link: str, path: str = "", **query: str) -> str:
    return get(f"{link}{PROFILE_PATH}/{path}?{urllib.parse.urlencode(query)}").body.decode()


def figures(page: str) -> list[str]:
    """The values of a page's glance."""
    return [html.unescape(value) for value in re.findall(r"<dd>([^<]+)</dd>", page)]


def test_glance_comes_with_the_answer_and_goes_with_the_files(
    shelf: Shelf, small_session: Path
) -> None:
    link = shelf.share(shelf.place(small_session))
    assert figures(page_of(link)) == []
    data = get(f"{link}{PROFILE_PATH}/data?{urllib.parse.urlencode(OVERVIEW)}")
    assert data.status == 200, data.body
    answer = json.loads(data.body)
    step_time = f"{answer[1]['p']['steptime_ms_average']} ms"
    for path, query in (("", {}), ("overview_page", OVERVIEW), ("", {"host": "no-such-host"})):
        shown = figures(page_of(link, path, **query))
        assert shown[0] == step_time
        assert answer[0]["p"]["hbm_utilization_percent"] in shown
    assert figures(page_of(link, tag="hlo_stats")) == []
    assert figures(page_of(link, "hlo_stats")) == []


def test_nothing_of_a_link_is_used_again_unasked(demo_hub: DemoHub) -> None:
    """A late host, and the end of a link, must show at once."""
    base = f"{demo_hub.link}{PROFILE_PATH}"
    for name in ("", "config", "version", "runs", "run_tools", "hosts?tag=overview_page"):
        assert "no-cache" in get(f"{base}/{name}").headers["cache-control"]
