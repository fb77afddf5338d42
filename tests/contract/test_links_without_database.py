"""Who opens a link while the database is away reads a sentence, and the page comes back by itself."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy.exc import OperationalError

from tests.services.api import Api, api_settings, serve_api
from tests.services.cluster import PROFILE_PATH, get
from tests.services.hub import copy_of, share

PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with serve_api(api_settings(tmp_path, scan_seconds=0, prewarm=False)) as served:
        yield served


@pytest.fixture
def link(api: Api, small_session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A link that was made before the database went."""
    made = share(api.url, "run", "s", copy_of(small_session, tmp_path / "profiles" / "s"))

    def away() -> NoReturn:
        raise OperationalError("SELECT 1", {}, ConnectionError("gone"))

    monkeypatch.setattr(api.services.database, "reading", away)
    return made


@pytest.mark.parametrize("below", ["", PROFILE_PATH + "/", PROFILE_PATH + "/overview_page"])
def test_a_browser_is_told_in_words_and_asks_again(link: str, below: str) -> None:
    answer = get(link + below, PAGE)
    assert answer.status == 503
    assert answer.headers["content-type"].startswith("text/html")
    assert "database does not answer" in html.unescape(answer.body.decode())
    assert answer.headers["retry-after"] == "5"
    assert 5 <= int(answer.headers["refresh"]) <= 10


def test_what_a_page_asks_for_gets_an_error_in_the_apis_shape(link: str) -> None:
    answer = get(f"{link}{PROFILE_PATH}/data?tag=hlo_stats", {"Accept": "*/*"})
    assert (answer.status, answer.headers["content-type"]) == (503, "application/json")
    assert answer.headers["retry-after"] == "5"
    assert "refresh" not in answer.headers
