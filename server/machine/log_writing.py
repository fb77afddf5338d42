"""Writing log lines without ever waiting for whoever reads them.

A pipe that nobody reads is full after 64 kB, and who writes to it stands still: for a server, with all its
requests. So a line is written at once where there is room, and else waits in memory for a thread that writes
when there is; what finds no place there is lost, and counted. Lines stay whole and in order.

Nothing here says what is in a line; that is `server.machine.logs`' matter. A process that was forked begins
with an empty queue: what its parent has not written yet is the parent's to write.
"""

from __future__ import annotations

import logging
import os
import select
import stat
import threading
import time
from collections import deque
from typing import IO

_MOST_WAITING_BYTES = 4 << 20
"""About twenty thousand lines of requests."""
_FLUSH_SECONDS = 2.0
"""How long an end of the process waits for a reader."""
_LOOK_SECONDS = 1.0
_SURE_BYTES = 512
"""What can be written where poll(2) says that something can: POSIX's least PIPE_BUF."""
_OWN_MODES = (stat.S_ISFIFO, stat.S_ISCHR)


class LinesBeside(logging.Handler):
    """A handler of log lines that never blocks its caller. Safe to share between threads.

    Attributes:
        lost: how many lines found no place, since the process began.

    Args:
        target: number of the file, pipe or socket to write to; stays open and as it is.
        most_waiting_bytes: how much may wait to be written.
    """

    def __init__(self, target: int, most_waiting_bytes: int = _MOST_WAITING_BYTES) -> None:
        super().__init__()
        self.lost = 0
        self._out = _Out(target)
        self._most = most_waiting_bytes
        self._told = 0
        self._empty(os.getpid())

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the line, or leaves it to the thread. Called with the handler's lock held."""
        try:
            line = f"{self.format(record)}\n".encode(errors="backslashreplace")
        except Exception:  # noqa: BLE001 - as logging's own handlers: no line may break what is logged
            self.handleError(record)
            return
        self._leave_parents_lines()
        rest = line if self._waiting else self._written(line)
        if not rest:
            return
        # The rest of a line that has begun always finds a place, so that lines stay whole.
        if self._bytes + len(rest) > self._most and len(rest) == len(line):
            self.lost += 1
            return
        self._keep(rest)

    def flush(self) -> None:
        """Writes what waits, as far as somebody reads it within two seconds."""
        end = time.monotonic() + _FLUSH_SECONDS
        with self._held():
            self._leave_parents_lines()
            while self._waiting and (left := end - time.monotonic()) > 0:
                self._out.wait(left)
                self._write_waiting()

    def _held(self) -> threading.RLock:
        """The handler's lock; logging makes it."""
        assert self.lock is not None, "logging.Handler makes one"  # noqa: S101
        return self.lock

    def _leave_parents_lines(self) -> None:
        if self._pid != os.getpid():
            self._empty(os.getpid())

    def _empty(self, pid: int) -> None:
        self._pid = pid
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._thread: threading.Thread | None = None

    def _keep(self, rest: bytes) -> None:
        """Has a line, or the end of one, written as soon as there is room."""
        self._waiting.append(rest)
        self._bytes += len(rest)
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_later, name="log", daemon=True)
            self._thread.start()

    def _write_later(self) -> None:
        """The thread: lives as long as something waits."""
        while True:
            self._out.wait(_LOOK_SECONDS)
            with self._held():
                self._write_waiting()
                if not self._waiting:
                    self._thread = None
                    return

    def _write_waiting(self) -> None:
        """Writes as many lines as there is room for, and at last how many were lost."""
        while self._waiting:
            first = self._waiting.popleft()
            self._bytes -= len(first)
            lost = self.lost
            rest = self._written(first)
            if rest:
                self._waiting.appendleft(rest)
                self._bytes += len(rest)
                return
            # Where nothing can be written, nothing can be told either.
            if self.lost == lost and not self._waiting and self.lost > self._told:
                self._tell_lost()

    def _tell_lost(self) -> None:
        number, self._told = self.lost - self._told, self.lost
        record = logging.LogRecord(
            __name__, logging.WARNING, __file__, 0, "%d log lines were lost", (number,), None
        )
        line = f"{self.format(record)}\n".encode()
        self._waiting.append(line)
        self._bytes += len(line)

    def _written(self, line: bytes) -> bytes:
        """What is left of a line after as much as possible was written; a line that can't be is lost."""
        try:
            return line[self._out.write(line) :]
        except OSError:
            # Nobody is there to read it, or the disk is full: there is no other place to say so.
            self.lost += 1
            return b""


class _Out:
    """A file that is written to without waiting.

    A pipe or a terminal is opened once more, since whether one waits is a matter of the opened file, which
    is shared with other processes. What can't be opened so (a socket) is asked before each little piece.
    """

    def __init__(self, target: int) -> None:
        # A number of its own: whoever closes the other one may see it given to another file.
        self._file, self._is_asked_first = os.dup(target), False
        mode = os.fstat(target).st_mode
        if stat.S_ISREG(mode):
            return
        try:
            if not any(is_own(mode) for is_own in _OWN_MODES):
                raise OSError("opening it once more would be another one")
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
            own = os.open(f"/proc/self/fd/{target}", flags)
        except OSError:
            self._is_asked_first = True
        else:
            os.close(self._file)
            self._file = own

    def write(self, data: bytes) -> int:
        """How many bytes were written.

        Raises:
            OSError: it can't be written to at all.
        """
        if self._is_asked_first:
            return self._write_asked(data)
        try:
            return os.write(self._file, data)
        except BlockingIOError:
            return 0

    def _write_asked(self, data: bytes) -> int:
        sent = 0
        while sent < len(data) and self.wait(0):
            sent += os.write(self._file, data[sent : sent + _SURE_BYTES])
        return sent

    def wait(self, seconds: float) -> bool:
        """Waits until something can be written; whether it can."""
        poll = select.poll()
        poll.register(self._file, select.POLLOUT)
        return bool(poll.poll(seconds * 1000))


def handler_for(stream: IO[str]) -> logging.Handler:
    """A handler that writes to a stream: without waiting if it is a file of the system."""
    try:
        return LinesBeside(stream.fileno())
    except (OSError, ValueError):
        return logging.StreamHandler(stream)


def lost_lines() -> int:
    """How many log lines of this process were lost."""
    handlers = logging.getLogger().handlers
    return sum(handler.lost for handler in handlers if isinstance(handler, LinesBeside))
