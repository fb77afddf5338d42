"""The server's end of one zygote: starts it, hands it jobs, and notices when it is gone.

A thread of its own starts the process and reads its answers until the end: the kernel ties the process to
the thread that started it, and a request's thread may end long before.
"""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from typing import IO

from loader.engine.base import Job, Limits, StopSignal
from loader.engine.messages import ChildEnd, Request, decode_end, encode, encode_request
from loader.engine.sandbox import Layer, clean_environment, layers_from_json
from loader.errors import ErrorCode, LoaderError

logger = logging.getLogger(__name__)

_START_SECONDS = 60.0
_GRACE_SECONDS = 30.0
"""How much longer than a job's own limit the zygote may stay silent before it counts as stuck."""
_LOOK_SECONDS = 0.1
"""How often a waiting caller looks whether its job is still wanted."""
_CLOSE_SECONDS = 5.0
_LONGEST_WORDS = 1000


class ZygoteProcess:
    """One zygote from start to end. Thread-safe."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._lock = threading.Lock()
        # Of its own: whoever waits for the zygote to listen must not keep others from hearing it.
        self._sending = threading.Lock()
        self._jobs: dict[int, Future[ChildEnd]] = {}
        self._last_number = 0
        self._alive = True
        self._process: subprocess.Popen[bytes] | None = None
        self._ready: Future[tuple[Layer, ...]] = Future()
        self._ours, theirs = socket.socketpair()
        self._thread = threading.Thread(
            target=self._live, args=(theirs,), name="engine-zygote", daemon=True
        )
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it can still take jobs."""
        return self._alive

    @property
    def pid(self) -> int | None:
        """Its process id, once it was started."""
        return self._process.pid if self._process else None

    def layers(self) -> tuple[Layer, ...]:
        """The sandbox's layers, as they hold there; waits until it has started.

        Raises:
            LoaderError: INTERNAL, it could not start.
        """
        try:
            return self._ready.result(_START_SECONDS)
        except TimeoutError as error:
            self.kill()
            raise LoaderError(
                ErrorCode.INTERNAL, "The XProf engine did not start in time. Try again."
            ) from error

    def run(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> ChildEnd:
        """Has the job done; waits for its end, also for that of a job that was cancelled.

        Raises:
            LoaderError: INTERNAL, the zygote is gone.
        """
        self.layers()
        number, future = self._submit(job, limits)
        give_up = time.monotonic() + limits.seconds + _GRACE_SECONDS
        is_told = False
        try:
            while (left := give_up - time.monotonic()) > 0:
                done, _ = wait([future], min(left, _LOOK_SECONDS) if cancelled else left)
                if done:
                    return future.result()
                if cancelled and cancelled.is_set() and not is_told:
                    self._send(encode("cancel", {"number": number}))
                    is_told = True
        finally:
            if not future.done():
                self._send(encode("cancel", {"number": number}))
        self.kill()
        raise _gone()

    def _submit(self, job: Job, limits: Limits) -> tuple[int, Future[ChildEnd]]:
        future: Future[ChildEnd] = Future()
        with self._lock:
            if not self._alive:
                raise _gone()
            self._last_number += 1
            number = self._last_number
            self._jobs[number] = future
        self._send(encode_request(Request(number, job, limits)))
        return number, future

    def _send(self, line: bytes) -> None:
        try:
            with self._sending:
                self._ours.sendall(line)
        except OSError:
            # The reading thread notices the same and fails all jobs.
            logger.info("the engine's zygote does not listen any more")

    def _live(self, theirs: socket.socket) -> None:
        """The thread: starts the process, reads what it says, buries it."""
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                    self._command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env=clean_environment(),
                    start_new_session=True,
                )
            if self._process.stderr is not None:
                listening = (self._process.stderr,)
                threading.Thread(target=_relay, args=listening, daemon=True).start()
            with self._ours.makefile("rb") as lines:
                for line in lines:
                    self._hear(json.loads(line))
        except OSError as error:
            logger.warning("the engine's zygote can't be reached: %s", error)
        finally:
            self._bury()

    def _hear(self, row: dict[str, object]) -> None:
        if row["kind"] == "ready":
            rows = row["layers"]
            self._ready.set_result(layers_from_json(rows if isinstance(rows, list) else []))
        elif row["kind"] == "failed":
            logger.error("the XProf engine can't be loaded: %s", row["message"])
            self._ready.set_exception(
                LoaderError(
                    ErrorCode.INTERNAL,
                    "The XProf engine can't be loaded on this server; its log says why.",
                )
            )
        else:
            number, end = decode_end(row)
            with self._lock:
                future = self._jobs.pop(number, None)
            if future is not None:
                future.set_result(end)

    def _bury(self) -> None:
        """Waits for the process and fails what it left undone."""
        with self._lock:
            self._alive = False
            left, self._jobs = list(self._jobs.values()), {}
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._ours.close()
        for future in left:
            future.set_exception(_gone())
        if not self._ready.done():
            self._ready.set_exception(_gone())

    def kill(self) -> None:
        """Ends it at once; its children die with it."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Ends it and its children, and waits until they are gone."""
        with self._lock:
            self._alive = False
            try:
                self._ours.shutdown(socket.SHUT_WR)
            except OSError:
                logger.debug("the engine's zygote was gone already")
        self._thread.join(_CLOSE_SECONDS)
        if self._thread.is_alive():
            self.kill()
            self._thread.join(_CLOSE_SECONDS)


def _relay(words: IO[bytes]) -> None:
    """Logs what the zygote has to say of itself, which is little, or the trace of its fault."""
    with words:
        for line in words:
            text = line.decode(errors="replace").rstrip()
            if text:
                logger.warning("the engine's zygote says: %s", text[:_LONGEST_WORDS])


def _gone() -> LoaderError:
    return LoaderError(ErrorCode.INTERNAL, "The XProf engine was restarted. Try again.")
