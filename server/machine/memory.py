"""How much memory this process may use, which in a container is less than the machine has."""

from __future__ import annotations

import os
from pathlib import Path

from server.machine.cores import CGROUPS, group_folders, own_groups

_FOR_CONVERSIONS = 0.8
"""The rest is for the worker itself, for downloads on their way and for the page cache of what is read."""


def memory_for_conversions() -> int:
    """Bytes: four fifths of what the control group or the machine has."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = cgroup_memory(CGROUPS, own_groups())
    return int(_FOR_CONVERSIONS * (machine if limit is None else min(machine, limit)))


def cgroup_memory(root: Path, own: str) -> int | None:
    """Bytes that the control groups grant at most, None when they set no limit.

    Version 1 says "no limit" by a number that no machine has.

    Args:
        root: where control groups are mounted.
        own: content of `/proc/self/cgroup` (cgroups(7)).
    """
    limits = [
        limit
        for folder in group_folders(root, own, "memory")
        if (limit := _limit_in(folder)) is not None
    ]
    return min(limits, default=None)


def _limit_in(folder: Path) -> int | None:
    """The limit of one group: `memory.max` of version 2, `memory.limit_in_bytes` of version 1."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        try:
            text = (folder / name).read_text().strip()
        except OSError:
            continue  # The group isn't visible from here, or is of the other version.
        return None if text == "max" else int(text)
    return None
