"""Addresses: none leads to a host of the caller's choice, and what is not public isn't below the prefix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.contract.api_calls import new_session
from tests.services.api import Api, api_settings, serve_api

PREFIX = "/team/x"
STRANGER = "evil.example"
PAGES = ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics")
OF_LINK = ("", "/data/plugin/profile", "/data/plugin/profile/runs", "/data/plugin/profile/x")


@pytest.fixture(scope="module", params=["", PREFIX], ids=["no prefix", "prefix"])
def any_api(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Api]:
    """An API with and without a path prefix."""
    folder = tmp_path_factory.mktemp("addresses")
    with serve_api(api_settings(folder, path_prefix=request.param)) as api:
        yield api


def test_no_address_leads_where_the_host_header_says(any_api: Api) -> None:
    link = any_api.http.post(f"{new_session(any_api, 'anywhere')}/shareLinks", json={}).json()
    described = httpx2.get(f"{any_api.url}/openapi.json").json()["paths"]
    paths = [*PAGES, *described, *(f"/s/{link['token']}{rest}" for rest in OF_LINK)]
    assert len(paths) > 15
    seen = set()
    for path in paths:
        for address in (path.rstrip("/") + "/", path.rstrip("/"), f"{path}//"):
            answer = httpx2.get(f"{any_api.url}{address}", headers={"Host": STRANGER})
            seen.add(answer.status_code)
            assert answer.status_code != 307
            location = answer.headers.get("location", f"{any_api.settings.path_prefix}/")
            assert urlsplit(location)[:2] == ("", ""), address
            assert location.startswith(f"{any_api.settings.path_prefix}/")
    assert {200, 302, 404} <= seen


def test_a_slash_too_many_is_another_address(any_api: Api) -> None:
    for path in ("/docs/", "/openapi.json/", "/v1/machineLearningRuns/", "/v1/shareLinks/"):
        assert httpx2.get(f"{any_api.url}{path}").status_code == 404, path


def test_metrics_are_outside_of_the_public_prefix_only(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, path_prefix=PREFIX)) as api:
        outside = api.url.removesuffix(PREFIX)
        assert "xprof_hub_requests_total" in httpx2.get(f"{outside}/metrics").text
        for path in (
            "/metrics",
            "//metrics",
            "/metrics/",
            "/%6detrics",
            "/./metrics",
            "/metrics%0A",
        ):
            answer = httpx2.get(f"{api.url}{path}")
            assert answer.status_code == 404, path
            assert "xprof_hub" not in answer.text
        for base in (outside, api.url):
            assert httpx2.get(f"{base}/healthz").status_code == 200
            assert httpx2.get(f"{base}/readyz").status_code == 200


def test_what_is_not_there_is_not_unchanged(any_api: Api) -> None:
    link = any_api.http.post(f"{new_session(any_api, 'absent')}/shareLinks", json={}).json()
    base = f"{any_api.url}/s/{link['token']}/data/plugin/profile"
    any_tag = {"If-None-Match": "*"}
    for path in ("/no-such-file.js", "/data?tag=no_such_tool", "/_assets/0/index.js"):
        assert httpx2.get(f"{base}{path}", headers=any_tag).status_code == 404, path
    # This one needs a worker, and there is none: that it can't be made must be said, too.
    answer = httpx2.get(f"{base}/data?tag=hlo_stats&host=vm", headers=any_tag)
    assert answer.status_code == 503
