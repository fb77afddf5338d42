"""CPU time of everything that the bench has started, and what machine it ran on."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
import time
from pathlib import Path

import psutil

_PR_SET_CHILD_SUBREAPER = 36
_SETTLE_SECONDS = 0.3
_SETTLED_CPU_SECONDS = 0.02
_LONGEST_SETTLE_SECONDS = 30.0


def adopt_orphans() -> None:
    """Makes grandchildren ours when their parent ends, so that their CPU time is not lost (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def started_cpu_seconds() -> float:
    """User and system time of all our descendants so far, ended ones included.

    A live process reports its own time and that of the children that it has waited for; the kernel moves
    a child's time to its parent in one step, so nothing is counted twice.
    """
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = ended.ru_utime + ended.ru_stime
    for process in psutil.Process().children(recursive=True):
        try:
            total += sum(process.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue  # Ended since the list was made: its parent has its time now.
    return total


def settled_cpu_seconds() -> float:
    """`started_cpu_seconds` once work that goes on after the last answer is done."""
    deadline = time.monotonic() + _LONGEST_SETTLE_SECONDS
    before = started_cpu_seconds()
    while time.monotonic() < deadline:
        time.sleep(_SETTLE_SECONDS)
        now = started_cpu_seconds()
        if now - before < _SETTLED_CPU_SECONDS:
            return now
        before = now
    return before


def machine() -> str:
    """Processor, cores, memory and Python in one line."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    memory = psutil.virtual_memory().total / 2**30
    return f"{model}, {cores} cores, {memory:.0f} GiB, Python {platform.python_version()}"
