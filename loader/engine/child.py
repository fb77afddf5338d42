"""The forked process around one conversion: from the zygote's copy to a caged process with a report.

It runs between `fork` and `_exit` and never returns into the zygote's loop.
"""

from __future__ import annotations

import os
import socket
import traceback
from collections.abc import Collection
from dataclasses import dataclass

from loader.engine import rs_steps, steps
from loader.engine.base import Job, Limits, Program
from loader.engine.messages import REPORT_BYTES, Report
from loader.engine.sandbox import LAYERS, Cage, harden, unmet
from loader.engine.settle import settle
from loader.errors import ErrorCode

_REPORT_FD, _LINE_FD = 3, 4


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
    assignment: Assignment,
    converters: steps.Converters,
    report_pipe: int,
    log_pipe: int,
    line: int | None = None,
) -> None:
    """Does the assignment and ends the process.

    Args:
        assignment: what to do.
        converters: the engine, loaded by the zygote.
        report_pipe: descriptor that the report goes to.
        log_pipe: descriptor for all that the engine prints.
        line: descriptor of the connection to xprof-rs, when that does the job.
    """
    status = 1
    try:
        empty = os.open(os.devnull, os.O_RDONLY)
        extra = [] if line is None else [line]
        settle([empty, log_pipe, log_pipe, report_pipe, *extra])
        os.write(_REPORT_FD, _work(assignment, converters).to_json()[:REPORT_BYTES])
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


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
        return _convert(assignment, converters)
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


def _convert(assignment: Assignment, converters: steps.Converters) -> Report:
    if assignment.job.program is Program.XPROF:
        return steps.convert(assignment.job, converters)
    with socket.socket(fileno=_LINE_FD) as line:
        return rs_steps.convert(assignment.job, line, assignment.limits.output_bytes)


def _failure(message: str) -> Report:
    return Report(False, code=ErrorCode.INTERNAL, message=message)
