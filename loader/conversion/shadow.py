"""Looks whether xprof-rs still answers like XProf: makes some answers again, later, and compares them.

Nobody waits for it: at most one comparison at a time, at the lowest priority, and one more than that is not
made. What it finds is counted, and a difference is logged by where it is, never by what the profile says.
"""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from loader.engine.base import Converted, Engine, Job, Limits
from loader.engine.sandbox import clean_environment
from loader.errors import COMES_BACK, ErrorCode, LoaderError
from loader.storage.base import XPLANE_SUFFIX
from loader.turns.admission import Admission, Urgency
from loader.turns.estimates import Estimates, Reading

EQUAL, DIFFERENT, FAILED = "equal", "different", "failed"

_COMPARE_SECONDS = 120
_CLOSE_SECONDS = 10.0
_SAYS_OTHERWISE = frozenset(
    {ErrorCode.ENGINE_REFUSED, ErrorCode.MALFORMED, ErrorCode.INVALID_REQUEST}
)
"""What XProf says of a profile; other failures say something of the moment."""
logger = logging.getLogger(__name__)


class JobDirectories(Protocol):
    """Where conversions work (loader.intake.scratch)."""

    def job_directory(self) -> AbstractContextManager[Path]:
        """A private directory for one job."""


class ShadowComparisons:
    """See the module. Thread-safe.

    Args:
        engine: makes the other answer.
        directories: where.
        admission: gives it a turn after everybody else.
        fraction: share of the answers that are made again, 0 to 1.
        record: told of every comparison: tool and `EQUAL`, `DIFFERENT` or `FAILED`.
    """

    def __init__(
        self,
        engine: Engine,
        directories: JobDirectories,
        admission: Admission,
        fraction: float,
        record: Callable[[str, str], None],
    ) -> None:
        self._engine = engine
        self._directories = directories
        self._admission = admission
        self._fraction = fraction
        self._record = record
        self._estimates = Estimates()
        self._free = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def offer(self, job: Job, converted: Converted, limits: Limits) -> None:
        """Makes one of many answers again, once this has returned. Takes as long as copying the answer.

        Whatever keeps it from that is counted, and costs the answer nothing.
        """
        is_chosen = random.random() < self._fraction  # noqa: S311 - a sample, no secret
        if not is_chosen or self._closing.is_set() or not self._free.acquire(blocking=False):
            return
        with ExitStack() as stack:
            stack.callback(self._free.release)
            try:
                self._begin(stack, job, converted, limits)
            except (LoaderError, OSError, RuntimeError) as problem:  # no space, no thread
                logger.warning("an answer of xprof-rs was not compared: %s", problem)
                self._record(job.tool, FAILED)

    def _begin(self, stack: ExitStack, job: Job, converted: Converted, limits: Limits) -> None:
        """Starts the thread, which from then on has what the stack holds."""
        answer, directory = self._keep(stack, job, converted)
        copy = replace(job, directory=directory)
        kept = stack.pop_all()
        thread = threading.Thread(
            target=self._run, args=(kept, copy, answer, limits), name="shadow", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:
            kept.close()
            raise
        self._thread = thread

    def _keep(self, stack: ExitStack, job: Job, converted: Converted) -> tuple[Path, Path]:
        """A copy of the answer, and a directory with the job's profiles, which nobody changes any more."""
        answer = stack.enter_context(self._directories.job_directory()) / "answer"
        directory = stack.enter_context(self._directories.job_directory())
        shutil.copyfile(converted.output, answer)
        for host in job.hosts:
            name = f"{host}{XPLANE_SUFFIX}"
            os.link(job.directory / name, directory / name)
        return answer, directory

    def _run(self, kept: ExitStack, job: Job, answer: Path, limits: Limits) -> None:
        """The thread: counts one comparison, unless the worker ends or has too much else to do."""
        with kept:
            try:
                outcome = self._outcome(job, answer, limits)
            except LoaderError as problem:
                if problem.code in {ErrorCode.CANCELLED, *COMES_BACK}:
                    return
                outcome = DIFFERENT if problem.code in _SAYS_OTHERWISE else FAILED
                logger.warning(
                    "%s of xprof-rs: XProf has no answer: %s", job.tool, problem.code.value
                )
            except (OSError, subprocess.SubprocessError, ValueError) as problem:
                outcome = FAILED
                logger.warning("%s of xprof-rs was not compared: %s", job.tool, problem)
        self._record(job.tool, outcome)

    def _outcome(self, job: Job, answer: Path, limits: Limits) -> str:
        sizes = [(job.directory / f"{host}{XPLANE_SUFFIX}").stat().st_size for host in job.hosts]
        memory = self._estimates.of(Reading(job.tool, "profile", sizes)).high
        patient = _Patient(self._closing)
        with self._admission.enter(patient, memory):
            converted = self._engine.convert(job, limits, patient)
        difference = _difference(job.tool, answer, converted.output)
        if difference is None:
            return EQUAL
        logger.warning("%s of xprof-rs differs from XProf's at %s", job.tool, difference)
        return DIFFERENT

    def close(self) -> None:
        """Gives up a comparison under way, and waits for that."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_SECONDS)


class _Patient:
    """Who applies for a turn after everybody else, while the worker lives."""

    urgency = Urgency.PREWARM
    session = "shadow"

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing
        self._gives_way = threading.Event()

    def is_set(self) -> bool:
        """Whether to stop (see `StopSignal`)."""
        return self._closing.is_set() or self._gives_way.is_set()

    def give_way(self) -> None:
        """A person needs the place; the comparison is not made."""
        self._gives_way.set()

    def check_wait(self) -> None:
        if self._closing.is_set():
            raise LoaderError(ErrorCode.CANCELLED, "The worker ends.")

    def show_waiting(self, ahead: int) -> None:
        """Nobody looks."""


def _difference(tool: str, fast: Path, xprof: Path) -> str | None:
    """Where two answers first differ; found out by another process, so that no answer is parsed in this one.

    Raises:
        subprocess.SubprocessError: it took too long, or ended otherwise.
        ValueError: it said something else than where.
    """
    command = [
        sys.executable,
        "-m",
        "loader.engine.compare",
        tool,
        os.fspath(fast),
        os.fspath(xprof),
    ]
    done = subprocess.run(  # noqa: S603 - our own interpreter and module
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_COMPARE_SECONDS,
        check=True,
        env=clean_environment(),
    )
    found = json.loads(done.stdout)
    return None if found is None else str(found)
