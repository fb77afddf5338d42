"""A front end whose time to end is over sends away who would have to wait, and says when to come back."""

from __future__ import annotations

import shutil
from pathlib import Path

from starlette.testclient import TestClient

from server.app import create_app
from tests.services.api import api_settings


def test_who_would_wait_for_a_worker_is_told_to_come_back_in_a_moment(
    tmp_path: Path, small_session: Path
) -> None:
    settings = api_settings(tmp_path)
    folder = tmp_path / "profiles" / "session"
    shutil.copytree(small_session, folder)
    app = create_app(settings)
    with TestClient(app, "http://127.0.0.1:8080", client=("127.0.0.1", 50000)) as client:
        run = "/v1/machineLearningRuns"
        client.post(f"{run}?machineLearningRunId=r", json={}).raise_for_status()
        sessions = f"{run}/r/profilerSessions"
        attached = client.post(
            f"{sessions}?profilerSessionId=s", json={"storageFolderUri": str(folder)}
        )
        attached.raise_for_status()
        link = client.post(f"{sessions}/s/shareLinks", json={}).raise_for_status().json()["uri"]
        data = f"{link}/data/plugin/profile/data?tag=overview_page&host=ALL_HOSTS"
        before = client.get(data)
        assert (before.status_code, before.headers["Retry-After"]) == (503, "5")  # no worker
        app.state.stopping.begin()
        app.state.stopping.let_go()
        answer = client.get(data)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
        assert "being stopped" in answer.json()["error"]["message"]
