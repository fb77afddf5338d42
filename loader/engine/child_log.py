"""What a child did and said, as log lines of the worker.

A child writes no log of its own: it has read a stranger's file, and whatever took it over could write lines
in anybody's name. What it printed comes back as text, and is logged here, in the thread of the conversion, so
that the request's trace stands beside it and not what the child says of itself.
"""

from __future__ import annotations

import logging

from loader.engine.base import Job
from loader.engine.messages import ChildEnd
from loader.engine.outcome import clean
from loader.errors import LoaderError

_MOST_LINES = 20
_OK = "ok"
logger = logging.getLogger("xprof_hub.child")


def log_child(job: Job, end: ChildEnd, problem: LoaderError | None) -> None:
    """One line for how the child ended, and, if it failed, the last ones of what it printed."""
    said = {"pid": end.pid, "tool": job.tool, "program": job.program.value}
    words = logging.DEBUG if problem is None else logging.INFO
    if logger.isEnabledFor(words):
        for line in [line for line in end.log.splitlines() if line.strip()][-_MOST_LINES:]:
            logger.log(words, "the engine says: %s", clean(line), extra=said)
    logger.info(
        "a child ended",
        extra={
            **said,
            "outcome": _OK if problem is None else problem.code.value,
            "seconds": round(end.seconds, 3),
            "cpu_seconds": round(end.cpu_seconds, 3),
            "peak_megabytes": end.peak_memory_bytes // 1_000_000,
        },
    )
