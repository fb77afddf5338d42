"""The process that conversions are forked from.

It loads XProf's native library once and does nothing else with it: no profile is ever read here, so every
child starts from a clean copy within 2 ms. It has one thread, watches its children's wall clock and
resident memory, and holds no secret. It ends, with all children, when the server closes the connection or
dies. Started by `loader.engine.process` as `python -m loader.engine.zygote FIRST_UID PROGRAM [LAYER ...]`
with the connection as standard input. PROGRAM is the path of xprof-rs, or `-`; no child converts anything
unless the layers named hold (`sandbox.REQUIREMENTS`).
"""

from __future__ import annotations

import itertools
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from loader.engine import child, rs_program, sandbox, selftest
from loader.engine.base import Program
from loader.engine.messages import ChildEnd, EndedBy, Request, decode_request, encode, encode_end
from loader.engine.rs_line import open_line
from loader.engine.steps import Converters
from loader.engine.watch import Watched, prepare, take_back

_TICK_SECONDS = 0.05
"""How often resident memory and wall clock are looked at."""
_HURRY_SECONDS = 0.002
"""The same, once a child has said all it had to say and is about to end."""


@dataclass(frozen=True)
class Pipes:
    """The pipes between the zygote and one child: what we read, and the child's ends."""

    report: int
    report_end: int
    log: int
    log_end: int

    @property
    def ours(self) -> tuple[int, int]:
        """The ends that are read here."""
        return self.report, self.log

    @property
    def theirs(self) -> tuple[int, int]:
        """The ends that a child writes to."""
        return self.report_end, self.log_end


class Zygote:
    """Forks, watches and reaps children on the word of the server."""

    def __init__(
        self,
        server: socket.socket,
        converters: Converters,
        first_uid: int | None,
        required: Collection[str] = (),
        program: int | None = None,
    ) -> None:
        self._server = server
        self._converters = converters
        self._first_uid = first_uid
        self._required = tuple(required)
        self._program = program
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, Watched] = {}
        self._input = b""
        self._open = True

    def serve(self) -> None:
        """Works until the server closes the connection, then ends every child."""
        self._selector.register(self._server, selectors.EVENT_READ)
        while self._open:
            for key, _ in self._selector.select(self._patience()):
                watched = key.data
                if watched is None:
                    self._listen()
                elif not watched.drain(key.fd):
                    self._close(watched, key.fd)
            self._look_after_children()
        for watched in self._children.values():
            watched.kill(EndedBy.CANCELLED)
            watched.bury()
            take_back(watched.job)

    def _patience(self) -> float | None:
        if not self._children:
            return None
        hurry = any(watched.silent for watched in self._children.values())
        return _HURRY_SECONDS if hurry else _TICK_SECONDS

    def _listen(self) -> None:
        """Reads what the server wants; lines may come in pieces."""
        chunk = self._server.recv(1 << 16)
        self._open = bool(chunk)
        *lines, self._input = (self._input + chunk).split(b"\n")
        for line in lines:
            row = json.loads(line)
            if row["kind"] == "convert":
                self._start(row)
            elif row["number"] in self._children:
                self._children[row["number"]].kill(EndedBy.CANCELLED)

    def _start(self, row: dict[str, object]) -> None:
        request = decode_request(row)
        # A number that no living child has: it stands for a user id.
        taken = {watched.slot for watched in self._children.values()}
        slot = next(number for number in itertools.count() if number not in taken)
        uid = None if self._first_uid is None else self._first_uid + slot
        pipes = Pipes(*os.pipe(), *os.pipe())
        try:
            prepare(request.job, uid)
            pid, companion = self._fork(request, uid, pipes)
        except OSError as error:
            for descriptor in (*pipes.ours, *pipes.theirs):
                os.close(descriptor)
            take_back(request.job)
            self._tell(request.number, ChildEnd(EndedBy.NOT_STARTED, log=str(error)))
            return
        for descriptor in pipes.theirs:
            os.close(descriptor)
        watched = Watched(pid, slot, request, pipes.report, pipes.log, companion)
        self._children[request.number] = watched
        for descriptor in pipes.ours:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, watched)

    def _fork(self, request: Request, uid: int | None, pipes: Pipes) -> tuple[int, int | None]:
        """The child's process id, and that of the program beside it.

        Raises:
            OSError: no process or connection can be made.
        """
        if request.job.program is Program.XPROF:
            return self._fork_child(request, uid, pipes, None), None
        if self._program is None:
            raise FileNotFoundError("this engine was started without xprof-rs")
        listener, line = open_line()
        with listener, line:
            start = rs_program.Start(
                request.job.directory,
                request.limits,
                uid,
                os.getpid(),
                self._required,
                self._program,
            )
            companion = os.fork()
            if companion == 0:
                rs_program.run(start, listener.fileno(), pipes.log_end)
            try:
                return self._fork_child(request, uid, pipes, line.fileno()), companion
            except OSError:
                os.kill(companion, signal.SIGKILL)
                os.waitpid(companion, 0)
                raise

    def _fork_child(self, request: Request, uid: int | None, pipes: Pipes, line: int | None) -> int:
        pid = os.fork()
        if pid == 0:
            assignment = child.Assignment(
                request.job, request.limits, uid, os.getppid(), self._required
            )
            child.run(assignment, self._converters, pipes.report_end, pipes.log_end, line)
        return pid

    def _look_after_children(self) -> None:
        """Ends those over their limits, and reports those that ended."""
        now = time.monotonic()
        for number, watched in list(self._children.items()):
            watched.enforce(now)
            end = watched.reap()
            if end is None:
                continue
            for descriptor in watched.pipes:
                self._close(watched, descriptor)
            del self._children[number]
            take_back(watched.job)
            self._tell(number, end)

    def _close(self, watched: Watched, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        watched.close(descriptor)

    def _tell(self, number: int, end: ChildEnd) -> None:
        try:
            self._server.sendall(encode_end(number, end))
        except OSError:
            self._open = False


def load_engine() -> Converters:
    """The native library alone, without the rest of the xprof package: 50 ms, 36 MB, no thread."""
    from xprof.convert import _pywrap_profiler_plugin

    converters: Converters = _pywrap_profiler_plugin
    return converters


def main() -> None:
    """Serves the connection that is this process's standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sandbox.die_with_parent()
    sandbox.hide_memory()
    server = socket.socket(fileno=os.dup(0))
    os.chdir("/")
    first_uid = int(sys.argv[1]) if os.geteuid() == 0 else None
    layers = selftest.try_layers(first_uid)
    if not any(layer.name == "own_user" and layer.holds for layer in layers):
        first_uid = None
    try:
        converters = load_engine()
        program = None if sys.argv[2] == "-" else os.open(sys.argv[2], os.O_RDONLY | os.O_CLOEXEC)
    except (ImportError, OSError) as error:
        server.sendall(encode("failed", {"message": str(error)}))
        return
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        sys.stderr.write(f"the engine's zygote has {threads} threads; forking it is not safe\n")
    rows = [[layer.name, layer.holds, layer.detail] for layer in layers]
    server.sendall(encode("ready", {"layers": rows}))
    Zygote(server, converters, first_uid, sys.argv[3:], program).serve()


if __name__ == "__main__":
    main()
