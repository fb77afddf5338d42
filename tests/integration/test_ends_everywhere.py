"""What ends a link at one front end ends it at the other, for open pages and answers that are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.contract.api_calls import new_session
from tests.contract.browsing import XPROF
from tests.services.api import Api, api_settings, serve_api
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer


@dataclass(frozen=True)
class Pair:
    """Two front ends of one deployment; what is changed at the one is looked at through the other."""

    one: Api
    other: httpx2.Client

    def link(self, run: str, **body: object) -> tuple[dict[str, str], str]:
        """A new link to a session of a new run, with its path."""
        made = self.one.http.post(f"{new_session(self.one, run)}/shareLinks", json=body).json()
        return made, f"/s/{made['token']}{XPROF}"


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory,
    postgres_server: PostgresServer,
    redis_server: RedisServer,
) -> Iterator[Pair]:
    folder: Path = tmp_path_factory.mktemp("ends")
    settings = api_settings(
        folder, database_url=postgres_server.create_database(), redis_url=redis_server.url
    )
    with (
        serve_api(settings) as one,
        serve_api(settings) as two,
        httpx2.Client(base_url=two.url, timeout=30) as other,
    ):
        yield Pair(one, other)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lambda api, link: api.http.delete(f"/{link['name']}"), 410),
        (lambda api, link: api.http.delete(f"/{link['session']}"), 410),
        (lambda api, link: api.http.delete(f"/{link['session'].rpartition('/prof')[0]}"), 410),
        (lambda api, link: api.http.patch(f"/{link['name']}", json={"password": "x" * 8}), 401),
        (lambda api, _link: api.http.patch("/sharingRules", json={"allowUnlisted": False}), 403),
    ],
    ids=["revoked", "session deleted", "run deleted", "password", "rules"],
)
def test_an_end_counts_for_an_open_page_everywhere(
    pair: Pair,
    end: Callable[[Api, dict[str, str]], httpx2.Response],
    status: int,
    request: pytest.FixtureRequest,
) -> None:
    pair.one.http.patch("/sharingRules", json={"allowUnlisted": True})
    link, path = pair.link(str(request.node.callspec.id))
    shown = pair.other.get(f"{path}/")
    assert shown.status_code == 200
    known = {"If-None-Match": shown.headers["etag"]}
    assert pair.other.get(f"{path}/", headers=known).status_code == 304
    assert end(pair.one, link).status_code == 200
    # From the very next question on, which is sooner than the 5 s that docs/security.md promises.
    routes = ("", "runs", "run_tools", "data?tag=hlo_stats", "status", "progress/data", "bundle.js")
    for route in routes:
        answer = pair.other.get(f"{path}/{route}", headers=known)
        assert answer.status_code == status, route
        assert answer.headers["cache-control"] == "no-store"
