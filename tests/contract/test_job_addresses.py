"""Where jobs reach the API: behind a prefix, not on the content host, and when the database is broken."""

from __future__ import annotations

from pathlib import Path

import httpx2
from sqlalchemy import create_engine, text

from auth.identity import Role
from tests.contract.api_calls import token_for
from tests.services.api import Api, api_settings, serve_api

RUN = {"logicalId": "r", "displayName": "job"}
QUERY = {"update_mask": "display_name", "allow_missing": "true"}


def register(address: str, **headers: str) -> httpx2.Response:
    return httpx2.patch(
        f"{address}/v1/machineLearningRuns", params=QUERY, json=RUN, headers=headers
    )


def break_table(api: Api, table: str) -> None:
    engine = create_engine(api.settings.resolved_database_url)
    with engine.begin() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO broken"))
    engine.dispose()


def lost_registrations(api: Api) -> str:
    lines = httpx2.get(f"{api.url}/metrics").text.splitlines()
    (line,) = [line for line in lines if line.startswith("xprof_hub_lost_registrations_total ")]
    return line.rpartition(" ")[2]


def test_behind_a_path_prefix(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, auth="token", path_prefix="/team")) as api:
        _, secret = token_for(api, Role.INGEST)
        assert api.url.endswith("/team")
        assert register(f"{api.url}/ingest/{secret}").json()["attempt"] == 1
        assert register(f"{api.url}//ingest/{secret}/").json()["attempt"] == 2
        outside = api.url.removesuffix("/team")
        assert register(f"{outside}/ingest/{secret}").status_code == 404
        assert register(f"{outside}/ingest/{secret}/team").status_code == 404


def test_the_content_host_takes_no_registrations(tmp_path: Path) -> None:
    settings = api_settings(
        tmp_path,
        auth="token",
        base_url="https://hub.example",
        content_url="https://content.example",
    )
    with serve_api(settings) as api:
        _, secret = token_for(api, Role.INGEST)
        address = f"{api.url}/ingest/{secret}"
        assert register(address, Host="content.example").status_code == 404
        assert register(address, Host="hub.example").status_code == 200


def test_a_broken_registry_ends_no_job(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, auth="token")) as api:
        _, secret = token_for(api, Role.INGEST)
        break_table(api, "attempts")
        answer = register(f"{api.url}/ingest/{secret}")
        assert answer.status_code == 200
        assert "name" not in answer.json()
        assert "could not store" in answer.json()["warnings"][0]
        assert lost_registrations(api) == "1.0"
        # What a job tells at its end may fail: it is told so, and says it once more.
        end = httpx2.patch(
            f"{api.url}/ingest/{secret}/v1/machineLearningRuns/r",
            params={"update_mask": "workload.state", "allow_missing": "false"},
            json={"workload": {"state": "STATE_FAILED"}},
        )
        assert end.status_code in {404, 503}


def test_a_job_goes_on_when_nobody_can_say_who_it_is(tmp_path: Path) -> None:
    with serve_api(api_settings(tmp_path, auth="token")) as api:
        _, secret = token_for(api, Role.INGEST)
        break_table(api, "api_tokens")
        assert register(f"{api.url}/ingest/{secret}").status_code == 200
        assert register(api.url, Authorization=f"Bearer {secret}").status_code == 200
        assert lost_registrations(api) == "2.0"
        # That opens nothing else.
        runs = f"{api.url}/v1/machineLearningRuns"
        assert httpx2.get(runs, headers={"Authorization": f"Bearer {secret}"}).status_code == 503
