"""The forked process around one conversion: from the zygote's copy to a caged process with a report.

It runs between `fork` and `_exit` and never returns into the zygote's loop.
"""

from __future__ import annotations

import fcntl
import os
import signal
import traceback
from collections.abc import Collection
from dataclasses import dataclass

from loader.engine import steps
from loader.engine.base import Job, Limits
from loader.engine.messages import REPORT_BYTES, Report
from loader.engine.sandbox import LAYERS, Cage, harden, unmet
from loader.errors import ErrorCode

_REPORT_FD = 3
_HIGH_FD = 64
"""Where the report's pipe waits while 0 to 3 are filled."""
_ALL_FDS = 1 << 16
_CLEAN_SIGNALS = (signal.SIGXFSZ, signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)


@dataclass(frozen=True)
class Assignment:
    """What one child is to do, and with what.

    Attributes:
        job: the conversion.
        limits: of the conversion.
        uid: user to become, or None.
        parent: process id of the zygote.
        required: what must hold around it, as in `sandbox.REQUIREMENTS`; else nothing is converted.
    """

    job: Job
    limits: Limits
    uid: int | None
    parent: int
    required: Collection[str]


def run(
    assignment: Assignment, converters: steps.Converters, report_pipe: int, log_pipe: int
) -> None:
    """Does the assignment and ends the process.

    Args:
        assignment: what to do.
        converters: the engine, loaded by the zygote.
        report_pipe: descriptor that the report goes to.
        log_pipe: descriptor for all that the engine prints.
    """
    status = 1
    try:
        _settle(report_pipe, log_pipe)
        os.write(_REPORT_FD, _work(assignment, converters).to_json()[:REPORT_BYTES])
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


def _settle(report_pipe: int, log_pipe: int) -> None:
    """Leaves this process nothing of the zygote's: its own pipes, an empty input, default signals."""
    for number in _CLEAN_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    os.umask(0o022)
    waiting = fcntl.fcntl(report_pipe, fcntl.F_DUPFD, _HIGH_FD)
    log = fcntl.fcntl(log_pipe, fcntl.F_DUPFD, _HIGH_FD)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(waiting, _REPORT_FD)
    os.closerange(_REPORT_FD + 1, _ALL_FDS)


def _work(assignment: Assignment, converters: steps.Converters) -> Report:
    try:
        directory = os.open(
            assignment.job.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        )
        os.fchdir(directory)
        steps.preload(assignment.job)
        cage = Cage(directory, assignment.limits, assignment.uid, assignment.parent)
        missing = harden(cage)
        os.close(directory)
        if lacking := unmet(assignment.required, set(LAYERS).difference(missing)):
            return _failure(f"sandbox layers are missing: {', '.join(lacking)}")
        return steps.convert(assignment.job, converters)
    except steps.RefusedError as refusal:
        return refusal.report
    except MemoryError:
        return Report(False, code=ErrorCode.OUT_OF_MEMORY)
    except UnicodeEncodeError:
        return Report(
            False,
            code=ErrorCode.INVALID_REQUEST,
            message="a name holds bytes that are not text",
        )
    except (OSError, ValueError, RuntimeError, ImportError, TypeError) as error:
        return _failure(f"{type(error).__name__}: {error}")


def _failure(message: str) -> Report:
    return Report(False, code=ErrorCode.INTERNAL, message=message)
