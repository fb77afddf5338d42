"""A worker is ready when its engine has started, and says why when it can't."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time

import pytest

from loader.engine.sandbox import LAYERS
from loader.engine.xprof import XprofEngine
from server.readiness import Readiness


def answer_of(readiness: Readiness) -> tuple[int, dict[str, str]]:
    response = asyncio.run(readiness.answer())
    return response.status_code, json.loads(bytes(response.body))


def test_an_engine_that_runs_is_ready(
    engine: XprofEngine, caplog: pytest.LogCaptureFixture
) -> None:
    readiness = Readiness(engine)
    with caplog.at_level(logging.WARNING, "server.readiness"):
        readiness.start()
    assert answer_of(readiness) == (200, {"status": "ok"})
    missing = {layer.name for layer in engine.layers() if not layer.holds}
    logged = {name for name in LAYERS if f"layer {name} " in caplog.text}
    assert logged == missing


def test_an_engine_that_cannot_start_is_logged_and_not_ready(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = XprofEngine(python="/bin/false")
    readiness = Readiness(engine)
    readiness.start()
    assert "the engine did not start" in caplog.text
    status, body = answer_of(readiness)
    assert (status, body["status"]) == (503, "engine")
    assert body["message"]
    engine.close()


def test_an_engine_that_died_is_started_by_the_next_question() -> None:
    engine = XprofEngine()
    try:
        readiness = Readiness(engine)
        readiness.start()
        first = engine.zygote_pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        while engine.zygote_pid is not None:
            time.sleep(0.01)
        # It is asked as often as a probe would; each question waits for the start a little.
        statuses = [answer_of(readiness)[0] for _ in range(10)]
        assert statuses[-1] == 200
        assert engine.zygote_pid not in {None, first}
    finally:
        engine.close()
