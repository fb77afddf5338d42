"""A worker of `serve` that stands still is ended and started again, on the address that it had."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil

from server.fleet.local_worker import LocalWorker
from server.fleet.signs import answers
from server.settings import Settings
from tests.services.pair import until


def workers() -> set[int]:
    """Processes that this one has started to convert."""
    return {
        child.pid
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and "worker" in child.cmdline()
    }


def test_a_worker_that_stands_still_is_started_again(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    settings = Settings.model_validate(
        {"data_dir": tmp_path / "data", "storage_roots": str(tmp_path / "profiles")}
    )
    before = workers()
    with LocalWorker(settings, patience=3.0) as local:
        address = local.front_settings.workers[0]
        (first,) = workers() - before
        os.kill(first, signal.SIGSTOP)
        until(lambda: not psutil.pid_exists(first), seconds=60)
        until(lambda: answers(address), seconds=60)
        (second,) = workers() - before
        assert second != first
    assert workers() == before
