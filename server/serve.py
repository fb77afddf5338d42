"""Starting and stopping: a front end, a worker, or both together.

Together means two processes that speak HTTP over the loopback interface, the same as on many machines; only
the addresses differ. The front end's process never loads XProf.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import math
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from loader.errors import LoaderError
from loader.stopping import Stopping
from loader.storage.address import is_gcs
from loader.storage.roots import open_storage
from server.asset_copies import copies_in_background
from server.fleet.local_worker import LocalWorker, end_with_parent, handed_over_socket
from server.http.connections import GuardedConnection, WorkerConnection
from server.machine.listening import StartError, listen, url_of
from server.metrics.port import metrics_port
from server.registry.errors import RegistryUnusableError
from server.settings import Settings
from server.start_checks import Part, problems_of_settings
from server.ui.xprof_files import XprofNotInstalledError

_YIELD_SECONDS = 2
"""How long a request that was let go of may take to say so, before its connection is cut."""
_OPEN_FILES = 65_536
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""mallopt(3): from which size on a block is a mapping of its own, and how many heaps there are."""
_LARGE_BLOCK_BYTES = 1 << 20
_HEAPS = 2
logger = logging.getLogger(__name__)


def check_start(settings: Settings, part: Part | None) -> None:
    """Refuses a configuration that would be unsafe or can't work.

    Raises:
        StartError: with one line per problem.
    """
    is_production = settings.environment == "production"
    problems = problems_of_settings(settings, part)
    folders = settings.problems_with_folders()
    problems += _problems_with_roots(settings) + (folders if is_production else [])
    is_public = is_production and part != "worker"
    advice = settings.advice_for_production() if is_public else []
    for warning in advice if is_production else folders:
        logger.warning("%s", warning)
    if not settings.readable_roots and part is not None:
        problems.append(
            "XPROF_HUB_STORAGE_ROOTS is empty, so nothing may be read. Set it to the buckets and directories "
            "with profiles, for example gs://my-bucket/profiles."
        )
    if problems:
        raise StartError("\n".join(problems))
    for warning in _absent_roots(settings):
        logger.warning("%s", warning)


def _problems_with_roots(settings: Settings) -> list[str]:
    try:
        open_storage(settings.storage_roots)
    except (LoaderError, RuntimeError) as problem:
        return [f"XPROF_HUB_STORAGE_ROOTS: {problem}"]
    return []


def _absent_roots(settings: Settings) -> list[str]:
    """Which directories with profiles are not there: a typing error, or a disk that is not mounted yet."""
    return [
        f"XPROF_HUB_STORAGE_ROOTS: there is no directory {root}. Nothing can be opened below it until it is "
        "there: check the name, or mount it."
        for root in settings.storage_roots
        if not is_gcs(root) and not Path(root).expanduser().is_dir()
    ]


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
    _make_data_dir(settings.data_dir)
    with ExitStack() as stack:
        listener = handed_over_socket() or listen(settings.host, settings.port)
        stack.enter_context(listener)
        _allow_many_files()
        _give_memory_back()
        if part == "worker":
            end_with_parent()
            from server.worker.app import create_worker_app

            app = _build(create_worker_app, settings)
            shown = metrics_port(app.state.metrics, settings.host, settings.metrics_port)
            stack.enter_context(shown)
            _run(app, listener, on_ready, settings, WorkerConnection)
            return
        if part is None and not settings.workers:
            worker = LocalWorker(settings.with_local_uploads())
            settings = stack.enter_context(worker).front_settings
        from server.app import create_app

        app = _build(create_app, settings)
        services = app.state.services
        shown = metrics_port(services.metrics, settings.host, settings.metrics_port)
        stack.enter_context(shown)
        stack.enter_context(copies_in_background(settings, services.assets))
        _run(app, listener, on_ready, settings)


def _make_data_dir(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise StartError(f"XPROF_HUB_DATA_DIR can't be used: {problem}") from problem


def _allow_many_files() -> None:
    """Raises the soft limit of open files.

    A worker has many readers, downloads and children at once; a front end two connections for each who waits.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _give_memory_back() -> None:
    """Has glibc return every large block to the system at once, as it does until it has seen some freed.

    Compressing an answer takes about 30 MB, and each thread's heap would keep as much for the next time.
    Small blocks share a few heaps, too: dozens of threads wait for answers here, and seldom two of them
    allocate. A front end, whose threads hand on pieces of answers, grew under load for want of it.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # Other C libraries keep no such heaps.
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)
        mallopt(_M_ARENA_MAX, _HEAPS)


def _build(create: Callable[[Settings], FastAPI], settings: Settings) -> FastAPI:
    """The application; what it can't work with becomes a sentence.

    Raises:
        StartError: an engine, a database, a bucket or a directory can't be used.
    """
    try:
        return create(settings)
    except (ValueError, RuntimeError, RegistryUnusableError, XprofNotInstalledError) as problem:
        raise StartError(str(problem)) from problem
    except LoaderError as problem:
        raise StartError(problem.message) from problem
    except OSError as problem:
        raise StartError(
            "XPROF_HUB_DATA_DIR, XPROF_HUB_CACHE_ROOT or XPROF_HUB_UPLOAD_ROOT can't be used: "
            f"{problem}"
        ) from problem


class _Server(uvicorn.Server):
    """Tells the application at once that it is to end, and when the time for what goes on is over.

    uvicorn itself closes its socket and idle connections, and waits for the requests in flight.
    """

    def __init__(self, config: uvicorn.Config, stopping: Stopping, seconds: float) -> None:
        super().__init__(config)
        self._stopping = stopping
        self._seconds = seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal has come."""
        self._stopping.begin()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Waits for what goes on, then has it let go."""
        over = asyncio.get_running_loop().call_later(self._seconds, self._stopping.let_go)
        try:
            await super().shutdown(sockets)
        finally:
            over.cancel()


def _run(
    app: FastAPI,
    listener: socket.socket,
    on_ready: Callable[[str], None] | None,
    settings: Settings,
    connection: type[GuardedConnection] = GuardedConnection,
) -> None:
    config = uvicorn.Config(
        app,
        http=connection,
        ws="none",  # We have none, and what opens one would pass by whatever counts and logs requests.
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=math.ceil(settings.stop_seconds) + _YIELD_SECONDS,
        timeout_keep_alive=settings.keep_alive_seconds,
        lifespan="on",
    )
    server = _Server(config, app.state.stopping, settings.stop_seconds)
    if on_ready is not None:
        url = url_of(listener)
        threading.Thread(target=_announce, args=(server, url, on_ready), daemon=True).start()
    server.run(sockets=[listener])


def _announce(server: uvicorn.Server, url: str, on_ready: Callable[[str], None]) -> None:
    while not server.started and not server.should_exit:
        time.sleep(0.02)
    if server.started:
        on_ready(url)


def stop_on_terminate() -> None:
    """Makes SIGTERM end a start that has not reached the server yet, like Ctrl-C does."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
