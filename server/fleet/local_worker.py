"""A worker as a child process of a front end on one machine, and what the two hand over at its start.

The front end opens the worker's socket and keeps it, so that requests wait while the worker is started again.
A pipe that both hold ends when the front end does, however it ends.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from functools import partial

import httpx2

from server.fleet.signs import SignsOfLife, answers
from server.machine.listening import StartError, listen, url_of
from server.settings import KNOWN_SECRETS, Settings
from server.worker.readiness import DISK_IS_FULL, ENGINE_FAILED

_LISTEN_FD_VARIABLE = "XPROF_HUB_LISTEN_FD"
_LIFELINE_FD_VARIABLE = "XPROF_HUB_LIFELINE_FD"
_START_SECONDS = 90.0
"""Longer than the engine may take to start."""
_STOP_SECONDS = 15.0
"""Longer than a worker needs to end in order after its `stop_seconds`: its engine, its files."""
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0
_PATIENCE_SECONDS = 60.0
"""A busy worker answers its probe within a second; one that stood still for so long does not come back."""
_LOOKS = 6
"""How often it is asked within that time."""
_HEALTHY_SECONDS = 60.0
"""A worker that lived as long has started well, whatever ended it."""
logger = logging.getLogger(__name__)


def environment_of(settings: Settings) -> dict[str, str]:
    """The settings as environment variables for a process of ours."""
    variables = {}
    for name, value in settings.model_dump(mode="json").items():
        text = json.dumps(value) if isinstance(value, (list, tuple)) else str(value)
        variables[f"XPROF_HUB_{name.upper()}"] = text
    return variables


def environment_for_child(settings: Settings) -> dict[str, str]:
    """What a process of ours is started with: these settings, and all else of our own environment."""
    return _inherited(os.environ) | environment_of(settings)


def handed_over_socket() -> socket.socket | None:
    """In the worker: the socket that the process which started us left open, None when none did."""
    descriptor = os.environ.get(_LISTEN_FD_VARIABLE)
    return None if descriptor is None else socket.socket(fileno=int(descriptor))


def is_local_worker() -> bool:
    """Whether this process is the worker that another one of ours has started."""
    return _LISTEN_FD_VARIABLE in os.environ


def end_with_parent() -> None:
    """In the worker: ends it like SIGTERM does when the process that started it is gone."""
    lifeline = os.environ.get(_LIFELINE_FD_VARIABLE)
    if lifeline is None:
        return

    def wait() -> None:
        os.read(int(lifeline), 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def restart_pause(previous: float, lived: float) -> float:
    """How long to wait before a worker that has ended is started again: longer each time it ends early.

    Args:
        previous: the pause before it was started, in seconds; 0 the first time.
        lived: seconds from its start to its end.
    """
    if lived >= _HEALTHY_SECONDS:
        return _FIRST_PAUSE_SECONDS
    return min(max(_FIRST_PAUSE_SECONDS, 2 * previous), _LONGEST_PAUSE_SECONDS)


class LocalWorker:
    """A worker in a process of its own on this machine, started again when it dies or stands still.

    Args:
        settings: of the front end.
        patience: seconds without a sign of life after which a worker is ended.
    """

    def __init__(self, settings: Settings, patience: float = _PATIENCE_SECONDS) -> None:
        secret = settings.secret_key
        if secret in KNOWN_SECRETS:
            secret = secrets.token_urlsafe(32)
        self._listener = listen("127.0.0.1", 0)
        self._url = url_of(self._listener)
        # A port for metrics is the front end's; the worker's stay on its own.
        own = {"secret_key": secret, "host": "127.0.0.1", "metrics_port": 0}
        self._settings = settings.model_copy(update=own)
        self.front_settings = settings.model_copy(
            update={"secret_key": secret, "workers": (self._url,), "worker_identity": "none"}
        )
        self._signs = SignsOfLife(partial(answers, self._url), patience)
        self._pause_seconds = patience / _LOOKS
        self._lifeline, self._held_end = os.pipe()
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> LocalWorker:
        """Starts it and waits until it answers.

        Raises:
            StartError: it does not start.
        """
        try:
            process = self._start()
            self._wait_until_ready(process)
        except BaseException:
            self.__exit__()
            raise
        self._watcher = threading.Thread(target=self._watch, args=(process,), daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops it and waits for its end."""
        self._stopping.set()
        with self._starting:
            process = self._process
        if process is not None and process.poll() is None:
            seconds = self._settings.stop_seconds + _STOP_SECONDS
            process.terminate()
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                logger.warning("the worker did not end in %.0f seconds and is killed", seconds)
                process.kill()
                process.wait()
        if self._watcher is not None:
            # It may be about to hand the descriptors to a new process, which would get others' then.
            self._watcher.join()
        self._listener.close()
        os.close(self._lifeline)
        os.close(self._held_end)

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor = self._listener.fileno()
        environment = environment_for_child(self._settings)
        environment[_LISTEN_FD_VARIABLE] = str(descriptor)
        environment[_LIFELINE_FD_VARIABLE] = str(self._lifeline)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "server.cli", "serve", "--only", "worker"],
            env=environment,
            pass_fds=(descriptor, self._lifeline),
            stdin=subprocess.DEVNULL,
            # A Ctrl-C on the terminal reaches the front end, which then ends the worker in order.
            start_new_session=True,
        )
        return self._process

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                raise StartError(
                    f"The worker did not start (exit status {process.returncode}); see above."
                )
            try:
                answer = httpx2.get(f"{self._url}/readyz", timeout=5.0, trust_env=False)
            except httpx2.HTTPError:
                time.sleep(0.05)
                continue
            if answer.is_success:
                return
            said = answer.json()
            if said["status"] == DISK_IS_FULL:
                # Kept answers can be had nevertheless, and room may be made without a restart.
                logger.error("the worker is full: %s", said["message"])
                return
            if said["status"] == ENGINE_FAILED:
                raise StartError(f"The worker can't convert: {said['message']}")
            time.sleep(0.05)
        raise StartError(f"The worker did not start within {_START_SECONDS:.0f} seconds.")

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Starts the worker again whenever it ends before we do; its socket stays open meanwhile."""
        pause, started = 0.0, time.monotonic()
        while True:
            status = self._wait_for_end(process)
            if self._stopping.is_set():
                return
            pause = restart_pause(pause, time.monotonic() - started)
            logger.error(
                "the worker ended with status %s and is started again in %.0f s", status, pause
            )
            if self._stopping.wait(pause):
                return
            with self._starting:
                if self._stopping.is_set():
                    return
                started = time.monotonic()
                self._signs.begin(_START_SECONDS)
                try:
                    process = self._start()
                except OSError as problem:
                    logger.error("the worker can't be started: %s", problem)

    def _wait_for_end(self, process: subprocess.Popen[bytes]) -> int:
        """The worker's exit status, once it has ended, or was ended because it stood still."""
        while True:
            try:
                return process.wait(self._pause_seconds)
            except subprocess.TimeoutExpired:
                # One that is being stopped need not answer; whoever stops it sees to its end.
                if not self._stopping.is_set() and self._signs.is_silent():
                    logger.error("the worker gives no sign of life and is ended")
                    process.kill()


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What a child keeps of our environment."""
    return {name: value for name, value in environment.items() if not name.startswith("XPROF_HUB_")}
