"""Original files: whole and in ranges, by whom, and what is said when a file has gone."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from auth.identity import Role
from server.xprof.file_downloads import MOST_TOLD_BYTES, PIECE_BYTES
from tests.contract.api_calls import attach, authorize, create_run, error_of, session_path
from tests.contract.browsing import browser, signed_in
from tests.services.api import Api, ApiServers

HOST = "h ü\u202e\"'"
BODY = os.urandom(PIECE_BYTES + 1000)


@pytest.fixture
def api(api_servers: ApiServers) -> Api:
    """A hub with a session whose file takes two pieces; nothing here depends on the database."""
    served = api_servers.get("sqlite", "token")
    authorize(served)
    create_run(served, "r")
    folder = Path(served.settings.storage_roots[0]) / "s"
    folder.mkdir()
    (folder / f"{HOST}.xplane.pb").write_bytes(BODY)
    (folder / "empty.xplane.pb").touch()
    assert attach(served, "r", folder).status_code == 200
    return served


def get(api: Api, host: str = HOST, **headers: str) -> httpx2.Response:
    path = f"{session_path('r', 's')}/hosts/{quote(host, safe='')}:download"
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return api.http.get(path, headers=sent)


def test_the_file_comes_as_it_lies_there(api: Api) -> None:
    answer = get(api)
    assert hashlib.sha256(answer.content).digest() == hashlib.sha256(BODY).digest()
    headers = answer.headers
    assert headers["content-length"] == str(len(BODY))
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"] == (
        f"attachment; filename*=UTF-8''{quote('h ü_.xplane.pb', safe='')}"
    )
    assert "sandbox" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert get(api, If_None_Match=headers["etag"]).status_code == 304
    assert get(api, "empty").content == b""
    assert error_of(get(api, "other")) == (404, "NOT_FOUND")


def test_long_answers_do_not_say_how_long_they_are(api: Api) -> None:
    """Cloud Run refuses an answer that says more than 32 MiB, and takes it in chunks."""
    assert MOST_TOLD_BYTES == 32 * 1024 * 1024
    path = Path(api.settings.storage_roots[0]) / "s" / "long.xplane.pb"
    size = MOST_TOLD_BYTES + 5
    with path.open("wb") as file:
        file.truncate(size)
    whole = get(api, "long")
    assert (len(whole.content), whole.headers["x-xprof-hub-size"]) == (size, str(size))
    assert "content-length" not in whole.headers
    part = get(api, "long", Range=f"bytes=5-{size - 1}")
    assert part.headers["content-length"] == str(MOST_TOLD_BYTES)
    assert part.headers["x-xprof-hub-size"] == str(size)


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-", 10, len(BODY)),
        ("bytes=-7", len(BODY) - 7, len(BODY)),
        (f"bytes={PIECE_BYTES - 1}-{PIECE_BYTES}", PIECE_BYTES - 1, PIECE_BYTES + 1),
        (f"bytes=5-{len(BODY) * 2}", 5, len(BODY)),
    ],
)
def test_a_range_is_that_part(api: Api, asked: str, start: int, end: int) -> None:
    answer = get(api, Range=asked)
    assert answer.status_code == 206
    assert answer.content == BODY[start:end]
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(BODY)}"


def test_ranges_that_make_no_sense(api: Api) -> None:
    behind = get(api, Range=f"bytes={len(BODY)}-")
    assert error_of(behind) == (416, "OUT_OF_RANGE")
    assert behind.headers["content-range"] == f"bytes */{len(BODY)}"
    for odd in ("bytes=5-2", "bytes=-", "lines=1-2", "bytes=0-1,3-4", "bytes=a-b"):
        assert get(api, Range=odd).status_code == 200
    # Of another version, a range would be a part of another file.
    assert get(api, Range="bytes=0-0", If_Range='"old"').status_code == 200
    etag = get(api, Range="bytes=0-0").headers["etag"]
    assert get(api, Range="bytes=0-0", If_Range=etag).status_code == 206


def test_a_replaced_file_is_another_and_one_that_has_gone_is_missed(api: Api) -> None:
    etag = get(api).headers["etag"]
    path = Path(api.settings.storage_roots[0]) / "s" / f"{HOST}.xplane.pb"
    path.write_bytes(BODY[::-1])
    assert get(api).headers["etag"] != etag
    path.unlink()
    answer = get(api)
    assert error_of(answer) == (404, "NOT_FOUND")
    assert "no file of such a host now" in answer.json()["error"]["message"]


def test_a_browser_downloads_it_and_no_share_link_does(api: Api) -> None:
    page = f"/runs/r/sessions/s/files/{quote(HOST, safe='')}"
    with signed_in(api, Role.EDITOR) as client:
        answer = client.get(page)
        assert answer.content == BODY
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in answer.headers["content-security-policy"]
        missing = client.get("/runs/r/sessions/s/files/other")
        assert missing.status_code == 404
        assert "no file of such a host now" in missing.text
    with signed_in(api, Role.VIEWER) as client:
        assert client.get(page).status_code == 403
    link = api.http.post(f"{session_path('r', 's')}/shareLinks", json={}).json()["token"]
    with browser(api) as stranger:
        assert stranger.get(f"/s/{link}/files/{quote(HOST, safe='')}").status_code == 404
