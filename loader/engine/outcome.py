"""From the way a child ended to the sentence that a person reads."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
from dataclasses import dataclass

from loader.disk import disk_full, is_full
from loader.engine.base import CONTENT_TYPES, Job, Limits
from loader.engine.messages import REPORT_BYTES, ChildEnd, EndedBy, Report
from loader.errors import ErrorCode, LoaderError
from loader.inspection.refusals import one_unreadable, unreadable
from loader.storage.base import XPLANE_SUFFIX

_MESSAGE_LENGTH = 300
_FROM_CHILD = frozenset(
    {ErrorCode.INVALID_REQUEST, ErrorCode.ENGINE_REFUSED, ErrorCode.OUT_OF_MEMORY}
)
"""Codes that a child may decide; from a child that lies, anything else is a fault of ours."""
_OUT_OF_MEMORY_SIGNS = ("bad_alloc", "RESOURCE_EXHAUSTED", "pthread_create", "Cannot allocate")
_DISK_FULL_SIGNS = tuple(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT))
_NO_MEMORY_FOR_A_THREAD = 127
"""Exit status of the C library when it can't allocate a thread's own data."""

logger = logging.getLogger(__name__)

_CANT_PARSE = f"Can't parse ./{{}}{XPLANE_SUFFIX} as binary proto"
_DAMAGED = re.compile(
    rf"Can't parse \./.*{re.escape(XPLANE_SUFFIX)} as binary proto|Read less bytes than requested",
    re.DOTALL,
)
"""What XProf 2.24.2 says of damage in a profile; the latter when the damage leads it past the file's end."""
_DAMAGE = "a part of it is damaged"

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
    """Why the job has no answer, or None when it has one; names the tool and, of one host, the file."""
    report = read_report(end)
    if (report is None or not report.ok) and _lacked_disk(job, end, report):
        logger.error("a conversion failed because the scratch disk is full")
        return disk_full(_Work.of(job).file)
    if report is None:
        return _explain_end(_Work.of(job), limits, end)
    if report.ok:
        return None
    return _explain_damage(job, report.message) or _explain_report(_Work.of(job), limits, report)


def _lacked_disk(job: Job, end: ChildEnd, report: Report | None) -> bool:
    """Whether a child failed because the disk is full, which says nothing of the profile.

    A failure of ours is never remembered. So the engine's words, which can hold a stranger's, are not enough
    to make one of its own failures ours.
    """
    words = f"{end.report} {end.log}"
    if not any(sign in words for sign in _DISK_FULL_SIGNS):
        return False
    is_ours = report is not None and report.code is ErrorCode.INTERNAL
    return is_ours or is_full(job.directory)


def _explain_damage(job: Job, message: str) -> LoaderError | None:
    """The error for a profile that XProf can't parse; with its file, if the job or XProf names one."""
    if not _DAMAGED.fullmatch(message):
        return None
    suspects = job.hosts
    if len(suspects) > 1:
        suspects = tuple(host for host in suspects if message == _CANT_PARSE.format(host))
    if not suspects:
        return one_unreadable(_DAMAGE)
    error = unreadable(_DAMAGE)
    return LoaderError(error.code, error.message, f"{suspects[0]}{XPLANE_SUFFIX}")


def _explain_report(work: _Work, limits: Limits, report: Report) -> LoaderError:
    """What a child says of its failure."""
    if report.code is ErrorCode.OUT_OF_MEMORY:
        return _out_of_memory(work, limits)
    if report.code not in _FROM_CHILD:
        return work.failed(
            ErrorCode.INTERNAL, f"XProf Hub failed to convert {work.source} for {work.tool}."
        )
    message = clean(report.message)
    if report.code is ErrorCode.INVALID_REQUEST:
        return work.failed(report.code, f"{work.tool} can't answer this: {message}.")
    return work.failed(report.code, f"XProf can't make {work.tool} from {work.source}: {message}")


@dataclass(frozen=True)
class _Work:
    """What a job was about, in words.

    Attributes:
        tool: its tool.
        source: the file, or how many files there are.
        file: the file, when there is one only.
    """

    tool: str
    source: str
    file: str | None

    @classmethod
    def of(cls, job: Job) -> _Work:
        """The work of a job."""
        if len(job.hosts) != 1:
            return cls(job.tool, f"the profiles of {len(job.hosts)} hosts", None)
        file = f"{job.hosts[0]}{XPLANE_SUFFIX}"
        return cls(job.tool, file if file.isprintable() else "this profile", file)

    def failed(self, code: ErrorCode, message: str) -> LoaderError:
        """The error of this work."""
        return LoaderError(code, message, self.file)


def _explain_end(work: _Work, limits: Limits, end: ChildEnd) -> LoaderError:
    """Why a child without a usable report ended."""
    if end.ended_by is EndedBy.CANCELLED:
        return work.failed(ErrorCode.CANCELLED, f"Nobody waits for {work.tool} any more.")
    if end.ended_by is EndedBy.NOT_STARTED:
        return work.failed(
            ErrorCode.INTERNAL, f"The conversion for {work.tool} was stopped. Try again."
        )
    if end.ended_by is EndedBy.TIME or end.signal == signal.SIGXCPU:
        return _timed_out(work, limits)
    if end.ended_by is EndedBy.MEMORY or _ran_out_of_memory(end):
        return _out_of_memory(work, limits)
    if end.signal == signal.SIGXFSZ:
        return _too_large(work, limits)
    return _crashed(work, end) if end.signal != signal.SIGKILL else _killed(work, limits, end)


def _ran_out_of_memory(end: ChildEnd) -> bool:
    """Whether the engine's last words tell of a failed allocation."""
    if end.status == _NO_MEMORY_FOR_A_THREAD:
        return True
    return end.signal == signal.SIGABRT and any(sign in end.log for sign in _OUT_OF_MEMORY_SIGNS)


def _timed_out(work: _Work, limits: Limits) -> LoaderError:
    return work.failed(
        ErrorCode.TIMED_OUT,
        f"XProf took longer than {limits.seconds:.0f} s to make {work.tool} from {work.source} and was "
        "stopped. Capture a shorter profile, or ask for a higher time limit.",
    )


def _out_of_memory(work: _Work, limits: Limits) -> LoaderError:
    return work.failed(
        ErrorCode.OUT_OF_MEMORY,
        f"XProf needs more than {_gibibytes(limits.memory_bytes)} of memory to make {work.tool} from "
        f"{work.source} and was stopped. Capture a shorter profile, choose fewer hosts, or ask for a higher "
        "memory limit.",
    )


def _too_large(work: _Work, limits: Limits) -> LoaderError:
    return work.failed(
        ErrorCode.TOO_LARGE,
        f"XProf would write a file of more than {_gibibytes(limits.output_bytes)} to make {work.tool} from "
        f"{work.source}. Capture a shorter profile, or choose fewer hosts.",
    )


def _killed(work: _Work, limits: Limits, end: ChildEnd) -> LoaderError:
    """The kernel ends what it can't give memory to; whoever else does says nothing about the profile."""
    if end.peak_memory_bytes > limits.memory_bytes // 2:
        return _out_of_memory(work, limits)
    return work.failed(
        ErrorCode.INTERNAL, f"The conversion for {work.tool} was ended from outside. Try again."
    )


def _crashed(work: _Work, end: ChildEnd) -> LoaderError:
    try:
        how = signal.Signals(end.signal).name if end.signal else f"exit status {end.status}"
    except ValueError:
        how = f"signal {end.signal}"
    return work.failed(
        ErrorCode.ENGINE_CRASHED,
        f"XProf crashed while making {work.tool} from {work.source} ({how}). The file may be damaged or "
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
