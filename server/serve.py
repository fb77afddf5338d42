"""Starting and stopping: a front end, a worker, or both together.

Together means two processes that speak HTTP over the loopback interface, the same as on many machines; only
the addresses differ. The front end's process never loads XProf.
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
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import FrameType
from typing import Literal

import httpx2
import uvicorn
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError

from auth.tokens import redact
from server.registry.errors import RegistryUnusableError
from server.settings import DEFAULT_SECRET, Settings
from server.ui.assets import XprofNotInstalledError

Part = Literal["front", "worker"]
LISTEN_FD_VARIABLE = "XPROF_HUB_LISTEN_FD"
LIFELINE_FD_VARIABLE = "XPROF_HUB_LIFELINE_FD"
"""A pipe that ends when the process that started us does, however it ends."""
_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_RESTART_PAUSE_SECONDS = 1.0
_BACKLOG = 512
logger = logging.getLogger(__name__)


class StartError(Exception):
    """The service can't start; the message says what to set or do."""


def check_start(settings: Settings, part: Part | None) -> None:
    """Refuses a configuration that would be unsafe or can't work.

    Raises:
        StartError: with one line per problem.
    """
    problems = settings.problems_with_binding() if part != "worker" else []
    if settings.environment == "production":
        is_worker = part == "worker"
        problems += (
            settings.problems_of_worker() if is_worker else settings.problems_in_production()
        )
    if part == "front" and not settings.workers:
        problems.append(
            "XPROF_HUB_WORKERS is empty. Set it to the URLs of the workers, or leave --only out."
        )
    if not settings.storage_roots and part is not None:
        problems.append(
            "XPROF_HUB_STORAGE_ROOTS is empty, so nothing may be read. Set it to the buckets and directories "
            "with profiles, for example gs://my-bucket/profiles."
        )
    if problems:
        raise StartError("\n".join(problems))


def environment_of(settings: Settings) -> dict[str, str]:
    """The settings as environment variables for a process of ours."""
    variables = {}
    for name, value in settings.model_dump(mode="json").items():
        text = ",".join(value) if isinstance(value, (list, tuple)) else str(value)
        variables[f"XPROF_HUB_{name.upper()}"] = text
    return variables


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on the address; port 0 takes a free one.

    Raises:
        StartError: the address is taken or not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as problem:
        listener.close()
        raise StartError(
            f"Can't listen on {host}:{port}: {problem.strerror}. Choose another port."
        ) from problem
    listener.listen(_BACKLOG)
    return listener


def url_of(listener: socket.socket) -> str:
    """The HTTP address of a listening socket, as someone on this machine reaches it."""
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - not binding
    return f"http://[{reachable}]:{port}" if ":" in reachable else f"http://{reachable}:{port}"


def serve(
    settings: Settings, on_ready: Callable[[str], None] | None = None, part: Part | None = None
) -> None:
    """Serves until SIGINT or SIGTERM.

    Args:
        settings: the configuration of all parts.
        on_ready: called with the address when everything answers; runs beside the server.
        part: only this part; both when None and no workers are configured.

    Raises:
        StartError: the service can't start.
    """
    check_start(settings, part)
    settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as stack:
        listener = _own_listener(settings)
        stack.enter_context(listener)
        if part == "worker":
            _end_with_parent()
            from server.worker import create_worker_app

            _run(_build(create_worker_app, settings), listener, on_ready)
            return
        if part is None and not settings.workers:
            settings = stack.enter_context(LocalWorker(settings)).front_settings
        from server.app import create_app

        _run(_build(create_app, settings), listener, on_ready)


def _build(create: Callable[[Settings], FastAPI], settings: Settings) -> FastAPI:
    """The application; what it can't work with becomes a sentence.

    Raises:
        StartError: an engine, a database or a directory can't be used.
    """
    try:
        return create(settings)
    except (ValueError, RuntimeError, RegistryUnusableError, XprofNotInstalledError) as problem:
        raise StartError(str(problem)) from problem
    except SQLAlchemyError as problem:
        reason = redact(str(problem).splitlines()[0])
        raise StartError(
            f"XPROF_HUB_DATABASE_URL: the database can't be used: {reason}"
        ) from problem
    except OSError as problem:
        raise StartError(
            f"XPROF_HUB_DATA_DIR or XPROF_HUB_CACHE_ROOT can't be used: {problem}"
        ) from problem


def _own_listener(settings: Settings) -> socket.socket:
    """The socket that a supervisor left open for us, or one of our own."""
    handed_over = os.environ.get(LISTEN_FD_VARIABLE)
    if handed_over is not None:
        return socket.socket(fileno=int(handed_over))
    return listen(settings.host, settings.port)


def _end_with_parent() -> None:
    """Ends this process like SIGTERM does when the process that started it is gone."""
    lifeline = os.environ.get(LIFELINE_FD_VARIABLE)
    if lifeline is None:
        return

    def wait() -> None:
        os.read(int(lifeline), 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def _run(app: FastAPI, listener: socket.socket, on_ready: Callable[[str], None] | None) -> None:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=int(_STOP_SECONDS),
        lifespan="on",
    )
    server = uvicorn.Server(config)
    if on_ready is not None:
        url = url_of(listener)
        threading.Thread(target=_announce, args=(server, url, on_ready), daemon=True).start()
    server.run(sockets=[listener])


def _announce(server: uvicorn.Server, url: str, on_ready: Callable[[str], None]) -> None:
    while not server.started and not server.should_exit:
        time.sleep(0.02)
    if server.started:
        on_ready(url)


class LocalWorker:
    """A worker in a process of its own on this machine, started again when it dies."""

    def __init__(self, settings: Settings) -> None:
        secret = settings.secret_key
        if secret == DEFAULT_SECRET:
            secret = secrets.token_urlsafe(32)
        self._listener = listen("127.0.0.1", 0)
        self._url = url_of(self._listener)
        self._settings = settings.model_copy(update={"secret_key": secret, "host": "127.0.0.1"})
        self.front_settings = settings.model_copy(
            update={"secret_key": secret, "workers": (self._url,)}
        )
        self._lifeline, self._held_end = os.pipe()
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> LocalWorker:
        """Starts it and waits until it answers.

        Raises:
            StartError: it does not start.
        """
        self._process = self._start()
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.__exit__()
            raise
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops it and waits for its end."""
        self._stopping.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._listener.close()
        os.close(self._lifeline)
        os.close(self._held_end)

    def _start(self) -> subprocess.Popen[bytes]:
        descriptor = self._listener.fileno()
        environment = _inherited(os.environ) | environment_of(self._settings)
        environment[LISTEN_FD_VARIABLE] = str(descriptor)
        environment[LIFELINE_FD_VARIABLE] = str(self._lifeline)
        return subprocess.Popen(
            [sys.executable, "-m", "server.cli", "serve", "--only", "worker"],
            env=environment,
            pass_fds=(descriptor, self._lifeline),
            stdin=subprocess.DEVNULL,
            # A Ctrl-C on the terminal reaches the front end, which then ends the worker in order.
            start_new_session=True,
        )

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end:
            if process.poll() is not None:
                raise StartError(
                    f"The worker did not start (exit status {process.returncode}); see above."
                )
            try:
                httpx2.get(f"{self._url}/readyz", timeout=2.0, trust_env=False).raise_for_status()
            except httpx2.HTTPError:
                time.sleep(0.05)
            else:
                return
        raise StartError(f"The worker did not start within {_START_SECONDS:.0f} seconds.")

    def _watch(self) -> None:
        """Starts the worker again whenever it ends before we do; its socket stays open meanwhile."""
        while not self._stopping.is_set():
            process = self._process
            if process is not None:
                status = process.wait()
                if self._stopping.is_set():
                    return
                logger.error("the worker ended with status %s and is started again", status)
            if self._stopping.wait(_RESTART_PAUSE_SECONDS):
                return
            self._process = self._start()


def _inherited(environment: Mapping[str, str]) -> dict[str, str]:
    """What a child keeps of our environment."""
    return {name: value for name, value in environment.items() if not name.startswith("XPROF_HUB_")}


def stop_on_terminate() -> None:
    """Makes SIGTERM end a start that has not reached the server yet, like Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


def describe(settings: Settings) -> str:
    """The settings as one JSON line for the log, without secrets."""
    shown = settings.model_dump(mode="json", exclude={"secret_key", "database_url", "redis_url"})
    return json.dumps(shown)
