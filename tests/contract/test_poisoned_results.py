"""A cache in which somebody else has put a page shows no page."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
import zstandard

from loader.caches.results import ResultHeader
from loader.catalog import list_session
from loader.plan import plan_for
from server.xprof.queries import read_tool_request
from tests.contract.link_visits import make_link
from tests.services.api import Api

_PAGE = b"<script>alert(1)</script>"


@pytest.mark.parametrize("content_type", ["text/html", "image/svg+xml", "text/javascript"])
def test_only_types_that_conversions_have_are_answered(
    api: Api, tmp_path: Path, content_type: str
) -> None:
    link = make_link(api)["uri"]
    profiles = Path(api.settings.storage_roots[0])
    location = str(next(profiles.rglob("*.xplane.pb")).parent)
    session = list_session(api.services.storage, (location,))
    request = read_tool_request(session, "kernel_stats", {"host": "ALL_HOSTS"})
    key = plan_for(session, api.services.engine_version, request).key
    packed = tmp_path / "page"
    packed.write_bytes(zstandard.compress(_PAGE))
    header = ResultHeader(content_type, packed.stat().st_size, len(_PAGE))
    api.services.results.put(key, header, packed, 60)
    answer = httpx2.get(
        f"{link}/data/plugin/profile/data?tag=kernel_stats&host=ALL_HOSTS", trust_env=False
    )
    assert (answer.status_code, answer.content) == (200, _PAGE)
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
