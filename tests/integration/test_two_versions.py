"""Upgrading and going back under load: two versions on one database, and nobody notices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from tests.next_version import make_next_version, migrate
from tests.services.hub import HubFactory, HubProcess
from tests.steady_visitors import Balancer, Made, Visitors


def start_front(hubs: HubFactory, balancer: Balancer, env: Mapping[str, str]) -> HubProcess:
    front = hubs.start(env, only="front")
    balancer.put_in(front.url)
    return front


def stop_front(balancer: Balancer, front: HubProcess) -> None:
    """As a deployment does: out of the load balancer, then told to end, with requests in flight."""
    balancer.take_out(front.url)
    assert front.stop() == 0, front.log_text()


def assert_all_there(front: HubProcess, made: list[Made]) -> None:
    """Every run is listed there, and links of all times open."""
    only = Balancer()
    only.put_in(front.url)
    _, page = only.ask("/v1/machineLearningRuns?pageSize=1000")
    listed = {run["displayName"] for run in json.loads(page)["machineLearningRuns"]}
    assert {each.run for each in made} <= listed
    for each in made[:: max(1, len(made) // 10)]:
        assert b"<app" in only.ask(each.link)[1]


@pytest.fixture
def env(tmp_path: Path, postgres_url: str) -> dict[str, str]:
    """Settings of both versions. No conversion is asked for, so nobody answers where workers should be."""
    (tmp_path / "profiles" / "s").mkdir(parents=True)
    (tmp_path / "profiles" / "s" / "h.xplane.pb").write_bytes(b"x")
    return {
        "XPROF_HUB_DATABASE_URL": postgres_url,
        "XPROF_HUB_STORAGE_ROOTS": str(tmp_path / "profiles"),
        "XPROF_HUB_SECRET_KEY": "the same for both",
        "XPROF_HUB_WORKERS": "http://127.0.0.1:9",
    }


def test_nobody_notices_an_upgrade_and_the_way_back(
    hubs: HubFactory, env: dict[str, str], postgres_url: str, tmp_path: Path
) -> None:
    later = make_next_version(tmp_path / "next")
    later_env = {**env, **later.env(), "XPROF_HUB_MIGRATE": "false"}
    balancer = Balancer()
    old = start_front(hubs, balancer, env)
    with Visitors(balancer, tmp_path / "profiles" / "s") as visitors:
        visitors.wait_for_more(old.url)
        assert migrate(later_env)["to"] == later.revision
        visitors.wait_for_more(old.url)

        new = start_front(hubs, balancer, later_env)
        visitors.wait_for_more(new.url)
        visitors.wait_for_more(old.url)
        assert_all_there(new, visitors.made[:])
        stop_front(balancer, old)
        visitors.wait_for_more(new.url)

        back = start_front(hubs, balancer, env)
        visitors.wait_for_more(back.url)
        stop_front(balancer, new)
        visitors.wait_for_more(back.url)
    assert visitors.failures == []
    assert_all_there(back, visitors.made)
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        moods: dict[str, str] = dict(connection.execute("SELECT id, mood FROM runs").fetchall())
        revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    assert moods == {made.run: "keen" if made.by == new.url else "calm" for made in visitors.made}
    assert revision == (later.revision,)
