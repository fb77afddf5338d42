"""Static files under the path that all links share, and the index page that names them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import brotli
import httpx2
import pytest

from server.ui.xprof_files import find_xprof_static
from tests.contract.api_calls import new_session
from tests.services.api import Api, api_settings, serve_api

IMMUTABLE = "public, max-age=31536000, immutable"
AS_IT_IS = {"Accept-Encoding": "identity"}
get = partial(httpx2.get, timeout=30)
"""The first answers of a hub wait until its files are packed, which takes a busy machine seconds."""


@pytest.fixture(params=["", "/team/x"], ids=["no prefix", "prefix"])
def any_api(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Api]:
    with serve_api(api_settings(tmp_path, path_prefix=request.param)) as api:
        yield api


def new_link(api: Api) -> dict[str, str]:
    link: dict[str, str] = api.http.post(f"{new_session(api)}/shareLinks", json={}).json()
    return link


def index_of(api: Api, link: dict[str, str]) -> str:
    return f"{api.url}/s/{link['token']}/data/plugin/profile/"


def host_of(api: Api) -> str:
    return api.url.removesuffix(api.settings.path_prefix)


def files_of(api: Api) -> list[str]:
    """The paths of all static files that the index page names."""
    page = get(index_of(api, new_link(api))).text
    named = re.findall(r'(?:src|href)="([^"]*/_assets/[^"]*)"', page)
    assert len(named) >= 7
    return named


def test_files_of_the_page_lie_under_the_shared_path_for_good(any_api: Api) -> None:
    for path in files_of(any_api):
        assert re.fullmatch(rf"{any_api.settings.path_prefix}/_assets/[0-9a-f]{{16}}/[\w.-]+", path)
        answer = get(f"{host_of(any_api)}{path}")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, IMMUTABLE), path
        etag = answer.headers["etag"]
        again = get(f"{host_of(any_api)}{path}", headers={"If-None-Match": etag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == etag


def test_all_links_share_their_files(any_api: Api) -> None:
    session = new_session(any_api)
    pages = [
        get(index_of(any_api, any_api.http.post(f"{session}/shareLinks", json={}).json()))
        for _ in range(2)
    ]
    shared = [re.findall(r'"([^"]*/_assets/[^"]*)"', page.text) for page in pages]
    assert pages[0].url != pages[1].url
    assert shared[0] == shared[1]


@pytest.mark.parametrize("encoding", ["br", "gzip"])
def test_a_script_comes_in_the_encoding_that_is_accepted(any_api: Api, encoding: str) -> None:
    (path,) = [path for path in files_of(any_api) if path.endswith("/bundle.js")]
    with httpx2.stream(
        "GET", f"{host_of(any_api)}{path}", headers={"Accept-Encoding": encoding}, timeout=30
    ) as answer:
        body = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == encoding
    assert answer.headers["vary"] == "Accept-Encoding"
    unpacked = brotli.decompress(body) if encoding == "br" else gzip.decompress(body)
    assert unpacked == (find_xprof_static() / "bundle.js").read_bytes()
    assert len(body) < len(unpacked) / 4


def test_nothing_but_static_files_is_there(any_api: Api) -> None:
    (script,) = [path for path in files_of(any_api) if path.endswith("/hub.js")]
    folder = f"{host_of(any_api)}{script.removesuffix('hub.js')}"
    for name in ("", "no-such.js", "../assets.py", "%2e%2e/assets.py", "bundle.js", "index.html"):
        answer = get(f"{folder}{name}")
        assert answer.status_code == 404, name
        assert "max-age" not in answer.headers.get("cache-control", "")


def test_the_hash_of_another_release_gives_the_present_file_but_not_for_good(any_api: Api) -> None:
    (path,) = [path for path in files_of(any_api) if path.endswith("/hub.js")]
    present = get(f"{host_of(any_api)}{path}")
    old = get(f"{any_api.url}/_assets/0123456789abcdef/hub.js")
    assert old.content == present.content
    assert old.headers["cache-control"] == "no-cache"
    assert old.headers["etag"] == present.headers["etag"]


def test_xprofs_own_scripts_find_their_files_by_plain_names(any_api: Api) -> None:
    index = index_of(any_api, new_link(any_api))
    page = get(f"{index}trace_viewer_index.html?is_streaming=true")
    assert page.headers["cache-control"] == "no-cache"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    scripts = re.findall(r'<script defer src="([^"]*)"', page.text)
    assert [path.rpartition("/")[2] for path in scripts] == [
        "hub-trace.js",
        "trace_viewer_index.js",
    ]
    for path in scripts:
        answer = get(f"{host_of(any_api)}{path}")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, IMMUTABLE)
    for name in ("materialicons.woff2", "styles.css", "favicon.svg"):
        assert get(f"{index}{name}").status_code == 200, name
    again = get(str(page.url), headers={"If-None-Match": page.headers["etag"]})
    assert again.status_code == 304
    assert again.headers["content-security-policy"] == page.headers["content-security-policy"]


def test_an_unchanged_index_is_not_sent_again_but_its_opening_counts(any_api: Api) -> None:
    session = new_session(any_api)
    link = any_api.http.post(f"{session}/shareLinks", json={}).json()
    first = get(index_of(any_api, link), headers={"Accept-Encoding": "br"})
    assert first.headers["cache-control"] == "private, no-cache"
    assert first.headers["content-encoding"] == "br"
    etag = first.headers["etag"]
    assert not etag.startswith("W/")
    held = {"Accept-Encoding": "br", "If-None-Match": etag}
    again = get(index_of(any_api, link), headers=held)
    assert (again.status_code, again.content) == (304, b"")
    # A browser takes the headers of a 304 for those of the page that it has kept.
    for name in ("content-security-policy", "cache-control", "etag", "vary"):
        assert again.headers[name] == first.headers[name], name
    assert any_api.http.get(f"shareLinks/{link['name'].rpartition('/')[2]}").json()["opens"] == 2
    plain = get(index_of(any_api, link), headers=AS_IT_IS)
    assert plain.content == first.content
    assert plain.headers["etag"] != etag


def test_a_kept_index_shows_nothing_once_its_link_is_revoked(any_api: Api) -> None:
    link = new_link(any_api)
    first = get(index_of(any_api, link))
    any_api.http.delete(f"shareLinks/{link['name'].rpartition('/')[2]}").raise_for_status()
    held = {"If-None-Match": first.headers["etag"]}
    assert get(index_of(any_api, link), headers=held).status_code == 410


def test_an_unchanged_status_is_not_sent_again(any_api: Api) -> None:
    address = f"{index_of(any_api, new_link(any_api))}status"
    first = get(address)
    again = get(address, headers={"If-None-Match": first.headers["etag"]})
    assert first.status_code == 200
    assert (again.status_code, again.content) == (304, b"")
