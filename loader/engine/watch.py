"""One child of the zygote, seen from outside: its pipes, its limits, its end.

Also gives a job's directory to the child's user before it starts, and takes it back afterwards, so that
the next child with the same user id can't reach it.
"""

from __future__ import annotations

import os
import signal
import stat
import time
from dataclasses import replace
from pathlib import Path

from loader.engine.base import Job
from loader.engine.messages import REPORT_BYTES, ChildEnd, EndedBy, Request
from loader.engine.produced import ANSWER_FILE

_LOG_BYTES = 4096
_PIECE_BYTES = 1 << 16
_MOST_PIECES = 16
"""As much as a pipe can hold that a child has made as large as it may without privileges."""
_SILENCE_SECONDS = 1.0
"""How long a child may live on after it closed its pipes."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Watched:
    """A running child, and the program beside it that it asks, if any: they share limits and end together."""

    def __init__(
        self,
        pid: int,
        slot: int,
        request: Request,
        report: int,
        log: int,
        companion: int | None = None,
    ) -> None:
        self.pid = pid
        self._companion = companion
        self._end: ChildEnd | None = None
        self.slot = slot
        self.job = request.job
        self._limits = request.limits
        self._started = time.monotonic()
        self._ended_by = EndedBy.ITSELF
        self._report_fd = report
        self._said = {report: b"", log: b""}
        self._open = {report, log}
        self._silent_since: float | None = None
        self._peak = 0

    @property
    def silent(self) -> bool:
        """Whether it has closed its own pipes, which it does by ending."""
        return self._silent_since is not None

    @property
    def pipes(self) -> list[int]:
        """Descriptors of its pipes that are still open."""
        return sorted(self._open)

    def drain(self, descriptor: int) -> bool:
        """Reads what lies in one of its pipes; False when nothing can come any more.

        A child that says more than it can be read leaves some for the next time: it must not keep the zygote
        from looking after the others.
        """
        for _ in range(_MOST_PIECES):
            try:
                chunk = os.read(descriptor, _PIECE_BYTES)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            keep = self._said[descriptor] + chunk
            # Of the report the beginning counts (more is no report at all), of the log the end.
            is_report = descriptor == self._report_fd
            self._said[descriptor] = keep[: REPORT_BYTES + 1] if is_report else keep[-_LOG_BYTES:]
            if len(chunk) < _PIECE_BYTES:
                break
        return True

    def close(self, descriptor: int) -> None:
        """Closes one of its pipes."""
        os.close(descriptor)
        self._open.discard(descriptor)
        is_report = descriptor == self._report_fd
        is_last = not self._open or (self._companion is not None and is_report)
        if is_last and self._silent_since is None:
            self._silent_since = time.monotonic()

    def enforce(self, now: float) -> None:
        """Ends the child when it is over a limit."""
        if self._ended_by is not EndedBy.ITSELF:
            return
        if now - self._started > self._limits.seconds:
            self.kill(EndedBy.TIME)
        elif self._resident() > self._limits.memory_bytes:
            self.kill(EndedBy.MEMORY)
        elif self._silent_since is not None and now - self._silent_since > _SILENCE_SECONDS:
            self.kill(EndedBy.ITSELF)

    def _resident(self) -> int:
        resident = sum(_resident_bytes(pid) for pid in self._processes())
        self._peak = max(self._peak, resident)
        return resident

    def _processes(self) -> list[int]:
        """Those that were not reaped yet."""
        own = [self.pid] if self._end is None else []
        return own if self._companion is None else [*own, self._companion]

    def kill(self, reason: EndedBy) -> None:
        """Ends the child now."""
        self._ended_by = reason
        for pid in self._processes():
            os.kill(pid, signal.SIGKILL)

    def bury(self) -> None:
        """Waits for a child that was killed."""
        for pid in self._processes():
            os.waitpid(pid, 0)

    def reap(self) -> ChildEnd | None:
        """How it ended, or None while it lives. It must be asked no more afterwards."""
        if self._end is None:
            self._end = self._reap_child()
        if self._end is None or self._companion is None:
            return self._end
        # It has nobody to answer any more.
        os.kill(self._companion, signal.SIGKILL)
        pid, _, usage = os.wait4(self._companion, os.WNOHANG)
        if pid == 0:
            return None
        self._companion = None
        return replace(
            self._end,
            cpu_seconds=self._end.cpu_seconds + usage.ru_utime + usage.ru_stime,
            peak_memory_bytes=max(self._end.peak_memory_bytes, usage.ru_maxrss * 1024),
        )

    def _reap_child(self) -> ChildEnd | None:
        pid, status, usage = os.wait4(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        for descriptor in self._open:
            self.drain(descriptor)
        log = next(text for descriptor, text in self._said.items() if descriptor != self._report_fd)
        return ChildEnd(
            self._ended_by,
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
            status=os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
            report=self._said[self._report_fd].decode(errors="replace"),
            log=log.decode(errors="replace"),
            seconds=time.monotonic() - self._started,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_memory_bytes=max(self._peak, usage.ru_maxrss * 1024),
            pid=self.pid,
        )


def _resident_bytes(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[1]) * _PAGE_BYTES


def prepare(job: Job, uid: int | None) -> None:
    """Removes an earlier job's answer and gives the directory to the child's user.

    The files in it stay ours, and read-only for the child.

    Raises:
        OSError: the directory isn't there, or holds something that is not a plain file.
    """
    (job.directory / ANSWER_FILE).unlink(missing_ok=True)
    if uid is None:
        return
    for entry in os.scandir(job.directory):
        mode = entry.stat(follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{entry.name} in the job's directory is not a plain file")
        if not mode & stat.S_IROTH:
            Path(entry.path).chmod(0o444)
    job.directory.chmod(0o700)
    os.chown(job.directory, uid, uid)


def take_back(job: Job) -> None:
    """Makes the job's directory ours again, so that no later child of the same user reaches it."""
    if os.geteuid() != 0:
        return
    try:
        os.chown(job.directory, 0, 0)
    except FileNotFoundError:
        return  # the server has removed it already
