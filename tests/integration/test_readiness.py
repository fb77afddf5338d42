"""A worker is ready when its engine has started and its disk has room, and says why when it can't."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal

import pytest

from loader.engine.sandbox import LAYERS, Layer
from loader.engine.xprof import XprofEngine
from server.worker.readiness import Readiness, SandboxMissingError
from tests.services.pair import until


def answer_of(readiness: Readiness) -> tuple[int, dict[str, str]]:
    response = asyncio.run(readiness.answer())
    return response.status_code, json.loads(bytes(response.body))


def test_an_engine_that_runs_is_ready(
    engine: XprofEngine, caplog: pytest.LogCaptureFixture
) -> None:
    readiness = Readiness(engine, "standard")
    with caplog.at_level(logging.WARNING, "server.worker.readiness"):
        readiness.start()
    assert answer_of(readiness) == (200, {"status": "ok"})
    missing = {layer.name for layer in engine.layers() if not layer.holds}
    logged = {name for name in LAYERS if f"layer {name} " in caplog.text}
    assert logged == missing


def test_an_engine_that_cannot_start_is_logged_and_not_ready(
    caplog: pytest.LogCaptureFixture,
) -> None:
    engine = XprofEngine(python="/bin/false")
    readiness = Readiness(engine, "standard")
    readiness.start()
    assert "the engine did not start" in caplog.text
    status, body = answer_of(readiness)
    assert (status, body["status"]) == (503, "engine")
    assert body["message"]
    engine.close()


def test_an_engine_that_died_is_started_by_the_next_question() -> None:
    engine = XprofEngine()
    try:
        readiness = Readiness(engine, "standard")
        readiness.start()
        first = engine.zygote_pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        until(lambda: engine.zygote_pid is None)
        # It is asked as often as a probe would; each question waits for the start a little.
        until(lambda: answer_of(readiness)[0] == 200)
        assert engine.zygote_pid not in {None, first}
    finally:
        engine.close()


class WeakEngine:
    """Stands for an engine on a machine without Landlock, whose zygote lost a layer when it was restarted."""

    def __init__(self) -> None:
        self.missing = {"own_user", "landlock"}

    def layers(self) -> tuple[Layer, ...]:
        return tuple(
            Layer(name, name not in self.missing, "it is not here" if name in self.missing else "")
            for name in LAYERS
        )


@pytest.mark.parametrize("mode", ["strict", "standard"])
def test_a_weaker_sandbox_than_demanded_does_not_start(mode: str) -> None:
    with pytest.raises(SandboxMissingError) as caught:
        Readiness(WeakEngine(), mode).start()
    message = str(caught.value)
    assert f"XPROF_HUB_SANDBOX={mode}" in message
    assert "landlock (it is not here)" in message
    assert "XPROF_HUB_SANDBOX=reduced" in message


def test_a_reduced_sandbox_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    readiness = Readiness(WeakEngine(), "reduced")
    with caplog.at_level(logging.WARNING, "server.worker.readiness"):
        readiness.start()
    assert "Serve only profiles that you trust" in caplog.text
    assert "layer landlock " in caplog.text
    assert answer_of(readiness)[0] == 200


def test_a_sandbox_that_is_lost_later_makes_the_worker_unready() -> None:
    engine = WeakEngine()
    engine.missing = {"own_user"}
    readiness = Readiness(engine, "standard")
    readiness.start()
    assert answer_of(readiness)[0] == 200
    engine.missing = {"own_user", "landlock"}
    status, body = answer_of(readiness)
    assert status == 503
    assert "landlock (it is not here)" in body["message"]


def test_a_worker_without_room_is_not_ready_until_there_is_some() -> None:
    rooms = iter([True, False, True])
    readiness = Readiness(WeakEngine(), "reduced", lambda: next(rooms))
    assert answer_of(readiness)[0] == 200
    status, body = answer_of(readiness)
    assert (status, body["status"]) == (503, "disk")
    assert "XPROF_HUB_SCRATCH_BYTES" in body["message"]
    assert answer_of(readiness) == (200, {"status": "ok"})
