"""XProf as an `Engine`: conversions in sandboxed children of a zygote process.

This process never imports xprof nor maps its library: neither a crash of the engine nor its memory can
become the server's.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from loader.engine import sandbox
from loader.engine.base import XPROF_VERSION, Converted, Job, Limits, StopSignal
from loader.engine.child_log import log_child
from loader.engine.outcome import explain, read_report
from loader.engine.process import ZygoteProcess
from loader.engine.produced import ANSWER_FILE, is_own_file, is_plain_file
from loader.engine.sandbox import FIRST_UID, Layer, unmet, why_unmet
from loader.errors import ErrorCode, LoaderError
from loader.storage.base import XPLANE_SUFFIX
from loader.tools import MODULE_LIST, RUN_TOOLS, TOOLS

logger = logging.getLogger(__name__)

SINGLE_HOST_TOOLS = frozenset({"kernel_utilization", "memory_profile", "trace_viewer"})
"""Tools that XProf makes from exactly one host's profile (xprof 2.24.2: it fails on more)."""

_SLOTS = 64


def check_pinned() -> None:
    """Makes sure that the installed xprof is the one that this version was written for; doesn't import it.

    Raises:
        RuntimeError: another version, or none; the message says what to install.
    """
    advice = f"Install it with: pip install 'xprof=={XPROF_VERSION}'"
    try:
        installed = metadata.version("xprof")
    except metadata.PackageNotFoundError as error:
        raise RuntimeError(f"The XProf engine is not installed. {advice}") from error
    if installed != XPROF_VERSION:
        raise RuntimeError(
            f"XProf {installed} is installed, but XProf Hub's answers and caches are made for "
            f"{XPROF_VERSION}. {advice}"
        )


class XprofEngine:
    """XProf in children of one zygote, which is started with the first job and again whenever it dies.

    Thread-safe. Create it in the process that uses it: a fork after the first job does not share it.
    """

    def __init__(
        self,
        python: str = sys.executable,
        slots: int = _SLOTS,
        first_uid: int = FIRST_UID,
        required_layers: Collection[str] = (),
        program: Path | None = None,
    ) -> None:
        """Starts nothing yet.

        Args:
            python: interpreter that has xprof.
            slots: most jobs at once; as root, user ids from `first_uid` on, one for each.
            first_uid: see `slots`.
            required_layers: what must hold around every job, as in `sandbox.REQUIREMENTS`; else none is done.
            program: xprof-rs, for jobs that ask for it.
        """
        self._command = (
            python,
            "-m",
            "loader.engine.zygote",
            str(first_uid),
            str(program) if program else "-",
            *required_layers,
        )
        self._required = tuple(required_layers)
        self._slots = threading.BoundedSemaphore(slots)
        self._count = slots
        self._lock = threading.Lock()
        self._zygote: ZygoteProcess | None = None
        self._closed = False

    @property
    def version(self) -> str:
        """Name and version of the engine."""
        return f"xprof-{XPROF_VERSION}"

    def layers(self) -> tuple[Layer, ...]:
        """The sandbox's layers, as they hold for this engine's children; starts the zygote.

        Raises:
            LoaderError: INTERNAL, the engine can't be started.
        """
        return self._living().layers()

    @property
    def zygote_pid(self) -> int | None:
        """Process id of the zygote, None while there is none."""
        zygote = self._zygote
        return zygote.pid if zygote is not None and zygote.alive else None

    def convert(self, job: Job, limits: Limits, cancelled: StopSignal | None = None) -> Converted:
        """Runs the job to its end.

        Raises:
            LoaderError: as `loader.engine.base.Engine`; also NOT_FOUND or INVALID_REQUEST for a job that
                XProf has no answer to, TOO_LARGE when it would write too much, BUSY when no slot gets free.
        """
        check_job(job)
        with self._slot(limits):
            zygote = self._living()
            self._check_layers(zygote)
            end = zygote.run(job, limits, cancelled)
        problem = explain(job, limits, end)
        log_child(job, end, problem)
        if problem is not None:
            raise problem
        report, answer = read_report(end), job.directory / ANSWER_FILE
        if report is None or not is_own_file(answer):
            raise LoaderError(
                ErrorCode.INTERNAL, f"The conversion for {job.tool} left no answer. Try again."
            )
        return Converted(
            answer,
            report.content_type,
            end.seconds,
            end.cpu_seconds,
            end.peak_memory_bytes,
            job.program,
        )

    def close(self) -> None:
        """Ends the zygote and all its children. Jobs still running fail with INTERNAL."""
        with self._lock:
            self._closed = True
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    @contextmanager
    def _slot(self, limits: Limits) -> Iterator[None]:
        if not self._slots.acquire(timeout=limits.seconds):
            raise LoaderError(
                ErrorCode.BUSY,
                f"All {self._count} conversion slots of this worker are taken.",
            )
        try:
            yield
        finally:
            self._slots.release()

    def _living(self) -> ZygoteProcess:
        """The zygote, started anew when there is none or it has died."""
        with self._lock:
            if self._closed:
                raise LoaderError(ErrorCode.INTERNAL, "The XProf engine is shut down.")
            if self._zygote is None or not self._zygote.alive:
                self._zygote = ZygoteProcess(self._command)
                self._protect(self._zygote)
            return self._zygote

    def _check_layers(self, zygote: ZygoteProcess) -> None:
        """Makes sure that what this zygote's children can wear is enough; a new zygote has tried it anew.

        Raises:
            LoaderError: INTERNAL, it is not.
        """
        layers = zygote.layers()
        lacking = unmet(self._required, {layer.name for layer in layers if layer.holds})
        if lacking:
            for requirement in lacking:
                logger.error("conversions are refused: %s", why_unmet(requirement, layers))
            raise LoaderError(
                ErrorCode.INTERNAL,
                "The sandbox around conversions does not hold on this server, so nothing is converted; its "
                "log says why.",
            )

    @staticmethod
    def _protect(zygote: ZygoteProcess) -> None:
        """Hides this process's environment when nothing else keeps children from reading it.

        They run as the same user then, and Linux lets a user read the memory of the user's own processes.
        """
        held = {layer.name for layer in zygote.layers() if layer.holds}
        if not held & {"own_user", "landlock"}:
            sandbox.hide_memory()


def check_job(job: Job) -> None:
    """Refuses what XProf has no answer to, and what the sandbox could not keep apart.

    Raises:
        LoaderError: NOT_FOUND, INVALID_REQUEST, or INTERNAL for a directory that is not a job's.
    """
    if job.tool not in TOOLS and job.tool not in {RUN_TOOLS, MODULE_LIST}:
        raise LoaderError(ErrorCode.NOT_FOUND, f"XProf has no tool called “{job.tool[:80]}”.")
    if job.tool in SINGLE_HOST_TOOLS and len(job.hosts) != 1:
        raise LoaderError(
            ErrorCode.INVALID_REQUEST,
            f"{job.tool} shows one host at a time; choose a host.",
        )
    if not job.hosts:
        raise LoaderError(ErrorCode.INVALID_REQUEST, f"No host was chosen for {job.tool}.")
    for host in job.hosts:
        _check_host(job.directory, host)


def _check_host(directory: Path, host: str) -> None:
    if not host or "/" in host or "\0" in host:
        raise LoaderError(ErrorCode.INVALID_REQUEST, "A host's name can't be a file's name.")
    profile = directory / f"{host}{XPLANE_SUFFIX}"
    if os.path.lexists(profile) and not is_plain_file(profile):
        raise LoaderError(
            ErrorCode.INTERNAL, f"The profile of host {host[:80]} is not a plain file."
        )
