"""Holds up a worker's engine, so that a test can look at a conversion while it is under way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from tests.services.hub import HubProcess


@contextmanager
def paused_engine(worker: HubProcess) -> Iterator[None]:
    """No conversion of the worker begins while this lasts; those that are asked for wait inside the engine.

    Args:
        worker: started with `only="worker"`.
    """
    (zygote,) = psutil.Process(worker.process.popen.pid).children()
    os.kill(zygote.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(zygote.pid, signal.SIGCONT)
