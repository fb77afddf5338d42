"""From the way a child ended to the sentence that a person reads."""

from __future__ import annotations

import re
import signal

from loader.engine.base import Job, Limits
from loader.engine.messages import REPORT_BYTES, ChildEnd, EndedBy, Report
from loader.errors import ErrorCode, LoaderError

CONTENT_TYPES = frozenset(
    {"application/json", "text/plain", "application/octet-stream", "text/csv"}
)
"""All that a conversion may answer with. HTML is not among them: XProf's holds unescaped names."""

_MESSAGE_LENGTH = 300
_FROM_CHILD = frozenset(
    {ErrorCode.INVALID_REQUEST, ErrorCode.ENGINE_REFUSED, ErrorCode.OUT_OF_MEMORY}
)
"""Codes that a child may decide; from a child that lies, anything else is a fault of ours."""
_OUT_OF_MEMORY_SIGNS = ("bad_alloc", "RESOURCE_EXHAUSTED", "pthread_create", "Cannot allocate")
_NO_MEMORY_FOR_A_THREAD = 127
"""Exit status of the C library when it can't allocate a thread's own data."""

_PATH = re.compile(r"(?<![\w.])\.{0,2}/(?:[^\s:;,'\"/]+/)*(?=[^\s/])")
"""The folders of a path in an engine's message; the file's own name stays."""


def read_report(end: ChildEnd) -> Report | None:
    """The report of a child that ended as it should, or None."""
    if end.ended_by is not EndedBy.ITSELF or end.signal or end.status:
        return None
    if len(end.report) > REPORT_BYTES:
        return None
    report = Report.from_json(end.report)
    if report is not None and report.ok and report.content_type not in CONTENT_TYPES:
        return None
    return report


def explain(job: Job, limits: Limits, end: ChildEnd) -> LoaderError | None:
    """Why the job has no answer, or None when it has one."""
    report = read_report(end)
    if report is None:
        return _explain_end(job.tool, limits, end)
    if report.ok:
        return None
    if report.code is ErrorCode.OUT_OF_MEMORY:
        return _out_of_memory(job.tool, limits)
    if report.code not in _FROM_CHILD:
        return LoaderError(
            ErrorCode.INTERNAL, f"XProf Hub failed to convert this profile for {job.tool}."
        )
    message = clean(report.message)
    if report.code is ErrorCode.INVALID_REQUEST:
        return LoaderError(report.code, f"This can't be answered: {message}.")
    return LoaderError(report.code, f"XProf can't make {job.tool} from this profile: {message}")


def _explain_end(tool: str, limits: Limits, end: ChildEnd) -> LoaderError:
    """Why a child without a usable report ended."""
    if end.ended_by is EndedBy.CANCELLED:
        return LoaderError(ErrorCode.CANCELLED, f"Nobody waits for {tool} any more.")
    if end.ended_by is EndedBy.NOT_STARTED:
        return LoaderError(ErrorCode.INTERNAL, f"The conversion for {tool} was stopped. Try again.")
    if end.ended_by is EndedBy.TIME or end.signal == signal.SIGXCPU:
        return _timed_out(tool, limits)
    if end.ended_by is EndedBy.MEMORY or _ran_out_of_memory(end):
        return _out_of_memory(tool, limits)
    if end.signal == signal.SIGXFSZ:
        return _too_large(tool, limits)
    return _crashed(tool, end) if end.signal != signal.SIGKILL else _killed(tool, limits, end)


def _ran_out_of_memory(end: ChildEnd) -> bool:
    """Whether the engine's last words tell of a failed allocation."""
    if end.status == _NO_MEMORY_FOR_A_THREAD:
        return True
    return end.signal == signal.SIGABRT and any(sign in end.log for sign in _OUT_OF_MEMORY_SIGNS)


def _timed_out(tool: str, limits: Limits) -> LoaderError:
    return LoaderError(
        ErrorCode.TIMED_OUT,
        f"XProf took longer than {limits.seconds:.0f} s to make {tool} from this profile and was stopped. "
        "Capture a shorter profile, or ask for a higher time limit.",
    )


def _out_of_memory(tool: str, limits: Limits) -> LoaderError:
    return LoaderError(
        ErrorCode.OUT_OF_MEMORY,
        f"XProf needs more than {_gibibytes(limits.memory_bytes)} of memory to make {tool} from this profile "
        "and was stopped. Capture a shorter profile, choose fewer hosts, or ask for a higher memory limit.",
    )


def _too_large(tool: str, limits: Limits) -> LoaderError:
    return LoaderError(
        ErrorCode.TOO_LARGE,
        f"XProf would write a file of more than {_gibibytes(limits.output_bytes)} to make {tool} from this "
        "profile. Capture a shorter profile, or choose fewer hosts.",
    )


def _killed(tool: str, limits: Limits, end: ChildEnd) -> LoaderError:
    """The kernel ends what it can't give memory to; whoever else does says nothing about the profile."""
    if end.peak_memory_bytes > limits.memory_bytes // 2:
        return _out_of_memory(tool, limits)
    return LoaderError(
        ErrorCode.INTERNAL, f"The conversion for {tool} was ended from outside. Try again."
    )


def _crashed(tool: str, end: ChildEnd) -> LoaderError:
    try:
        how = signal.Signals(end.signal).name if end.signal else f"exit status {end.status}"
    except ValueError:
        how = f"signal {end.signal}"
    return LoaderError(
        ErrorCode.ENGINE_CRASHED,
        f"XProf crashed while making {tool} from this profile ({how}). The file may be damaged or "
        "unusual; other tools may still work.",
    )


def clean(message: str) -> str:
    """An engine's message without folders and control characters, at most 300 characters."""
    printable = "".join(char if char.isprintable() else " " for char in message)
    words = " ".join(_PATH.sub("", printable).split())
    if len(words) > _MESSAGE_LENGTH:
        words = words[: _MESSAGE_LENGTH - 1] + "…"
    return words or "it gave no reason"


def _gibibytes(size: int) -> str:
    return f"{size / (1 << 30):.3g} GiB"
