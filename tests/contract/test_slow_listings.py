"""A storage that is slow to list: who can't be served soon is told, and whoever is being served is served."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

import server.xprof.tool_answers as answers_module
from loader.storage.base import StoredFile
from tests.services.api import api_settings, serve_api
from tests.services.cluster import PROFILE_PATH, Answer, get
from tests.services.hub import copy_of, share

TURN = 0.3


def test_who_waits_too_long_for_others_is_told_to_come_back(
    tmp_path: Path, small_session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers_module, "_LISTING_TURN_SECONDS", TURN)
    settings = api_settings(tmp_path, scan_seconds=0, prewarm=False)
    folder = copy_of(small_session, tmp_path / "profiles" / "s")
    with serve_api(settings) as api:
        page = share(api.url, "run", "s", folder) + PROFILE_PATH + "/"
        assert get(page).status == 200
        api.services.threads.storage.total_tokens = 1
        asked, goes_on = threading.Event(), threading.Event()
        list_files = api.services.storage.list_files

        def slow(location: str) -> list[StoredFile]:
            asked.set()
            goes_on.wait(60)
            return list_files(location)

        monkeypatch.setattr(api.services.storage, "list_files", slow)
        found: list[Answer] = []
        first = threading.Thread(target=lambda: found.append(get(page)))
        first.start()
        assert asked.wait(30)
        refused = get(page)
        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
        assert "too many wait for it" in refused.body.decode()
        time.sleep(TURN)
        goes_on.set()
        first.join()
        # It took longer than others may wait, and is an answer all the same.
        assert [answer.status for answer in found] == [200]
