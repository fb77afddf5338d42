"""What a process answers about itself, also while it ends."""

from __future__ import annotations

import pytest
from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse
from starlette.testclient import TestClient

from loader.stopping import Stopping
from server.http.probes import LIVE_PATHS, READY_PATHS, add_probes
from server.metrics.process import Metrics


async def ready() -> Response:
    return JSONResponse({"status": "ok"})


@pytest.mark.parametrize("path", READY_PATHS)
def test_who_was_told_to_end_lives_and_is_not_ready(path: str) -> None:
    app, stopping = FastAPI(), Stopping()
    add_probes(app, ready, stopping, Metrics())
    client = TestClient(app)
    assert client.get(path).status_code == 200
    stopping.begin()
    answer = client.get(path)
    assert (answer.status_code, answer.json()) == (503, {"status": "stopping"})
    assert int(answer.headers["Retry-After"]) > 0
    for live in LIVE_PATHS:
        assert client.get(live).json() == {"status": "ok"}
    assert client.get("/metrics").status_code == 200
