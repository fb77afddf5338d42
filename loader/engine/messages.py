"""What the server, the zygote and its children tell each other: one JSON object per line.

The child has handled a stranger's file, so the server believes nothing of its report but what
`Report.from_json` and `outcome` let through.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from loader.engine.base import Job, Limits, Program
from loader.errors import ErrorCode

REPORT_BYTES = 16_384
"""Most bytes of a child's report; whatever is longer is no report."""


class EndedBy(StrEnum):
    """Who ended a child."""

    ITSELF = "itself"
    TIME = "time"
    MEMORY = "memory"
    CANCELLED = "cancelled"
    NOT_STARTED = "not_started"


@dataclass(frozen=True)
class Report:
    """What a child says of its own work.

    Attributes:
        ok: whether the answer's file is complete.
        content_type: media type of the answer.
        code: kind of failure, when not ok.
        message: reason of the failure, in the engine's or our words.
    """

    ok: bool
    content_type: str = ""
    code: ErrorCode = ErrorCode.INTERNAL
    message: str = ""

    def to_json(self) -> bytes:
        """The report as one line without its end, short enough for a pipe's buffer."""
        return json.dumps({**asdict(self), "message": self.message[:2000]}).encode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Report | None:
        """The report, or None when the text is not one."""
        try:
            row = json.loads(text)
            return cls(
                bool(row["ok"]),
                str(row["content_type"]),
                ErrorCode(str(row["code"])),
                str(row["message"]),
            )
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True)
class ChildEnd:
    """How a child ended, as the zygote saw it.

    Attributes:
        ended_by: who ended it.
        signal: number of the signal that ended it, 0 for none.
        status: exit status, 0 for success.
        report: its report as text, empty when it made none.
        log: the end of what the engine printed, for us to read, never for a person.
        seconds: wall clock.
        cpu_seconds: user and system time.
        peak_memory_bytes: largest resident size.
        pid: its process id, as the zygote knows it; 0 when none was started.
    """

    ended_by: EndedBy
    signal: int = 0
    status: int = 0
    report: str = ""
    log: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    pid: int = 0


@dataclass(frozen=True)
class Request:
    """One job with its number."""

    number: int
    job: Job
    limits: Limits


def encode(kind: str, fields: Mapping[str, object]) -> bytes:
    """One line of the conversation between server and zygote."""
    return json.dumps({"kind": kind, **fields}).encode() + b"\n"


def encode_request(request: Request) -> bytes:
    """The line that asks the zygote for a conversion."""
    job = request.job
    row = {
        "directory": os.fspath(job.directory),
        "hosts": job.hosts,
        "tool": job.tool,
        "options": dict(job.options),
        "needs_modules": job.needs_modules,
        "as_csv": job.as_csv,
        "is_plain": job.is_plain,
        "program": job.program.value,
    }
    limits = asdict(request.limits)
    return encode("convert", {"number": request.number, "job": row, "limits": limits})


def decode_request(row: Mapping[str, object]) -> Request:
    """The request in a decoded line of our own server."""
    job, limits = row["job"], row["limits"]
    if not isinstance(job, dict) or not isinstance(limits, dict):
        raise TypeError("not a request")
    directory, hosts = Path(str(job.pop("directory"))), tuple(job.pop("hosts"))
    program = Program(str(job.pop("program")))
    asked = Job(directory, hosts, program=program, **job)
    return Request(int(str(row["number"])), asked, Limits(**limits))


def encode_end(number: int, end: ChildEnd) -> bytes:
    """The line that tells the server how a child ended."""
    return encode("end", {"number": number, "end": asdict(end)})


def decode_end(row: Mapping[str, object]) -> tuple[int, ChildEnd]:
    """Number and end in a decoded line of the zygote."""
    end = row["end"]
    if not isinstance(end, dict):
        raise TypeError("not an end")
    ended_by = EndedBy(end.pop("ended_by"))
    return int(str(row["number"])), ChildEnd(ended_by, **end)
