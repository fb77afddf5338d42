"""HEAD under a link answers as GET does, without the body."""

from __future__ import annotations

import httpx2
import pytest

from tests.services.cluster import PROFILE_PATH

SAME = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-security-policy",
    "content-type",
    "etag",
    "location",
    "vary",
    "x-xprof-hub-warnings",
)
ROUTES = {
    "": 200,
    "empty": 302,
    "runs": 200,
    "config": 200,
    "version": 200,
    "hosts?tag=overview_page": 200,
    "run_tools": 200,
    "module_list": 200,
    "data?tag=hlo_stats&host=ALL_HOSTS": 200,
    "data?tag=graph_viewer&type=graph": 200,
    "data?tag=no_such_tool": 404,
    "data_csv?tag=hlo_stats": 200,
    "status": 200,
    "progress/data?tag=hlo_stats&host=ALL_HOSTS": 200,
    "progress/no_such_route": 404,
    "no_such_file.js": 404,
}


@pytest.mark.parametrize(("route", "status"), ROUTES.items())
def test_head_is_get_without_the_body(demo_link: str, route: str, status: int) -> None:
    url = f"{demo_link}{PROFILE_PATH}/{route}"
    with httpx2.Client(timeout=120, headers={"Accept-Encoding": "gzip"}) as client:
        whole, head = client.get(url), client.head(url)
    assert (whole.status_code, head.status_code, head.content) == (status, status, b"")
    for name in SAME:
        assert head.headers.get(name) == whole.headers.get(name), name


def test_head_of_an_unchanged_answer_is_304(demo_link: str) -> None:
    url = f"{demo_link}{PROFILE_PATH}/run_tools"
    with httpx2.Client(timeout=120) as client:
        etag = client.head(url).headers["etag"]
        assert client.head(url, headers={"If-None-Match": etag}).status_code == 304
