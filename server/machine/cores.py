"""How many processor cores this process may use, which in a container are fewer than the machine has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

CGROUPS = Path("/sys/fs/cgroup")
"""Where control groups are mounted."""
_OWN_CGROUP = Path("/proc/self/cgroup")


def usable_cores() -> int:
    """Whole cores that the affinity mask and the cgroup's quota leave, at least one."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # Only Linux has it.
        cores = os.cpu_count() or 1
    quota = cgroup_quota(CGROUPS, own_groups())
    return cores if quota is None else max(1, min(cores, int(quota)))


def cgroup_quota(root: Path, own: str) -> float | None:
    """Cores that the control groups grant at most, None when they set no limit.

    Args:
        root: where control groups are mounted.
        own: content of `/proc/self/cgroup`: lines of `number:controllers:path`, the controllers empty in
            version 2 (cgroups(7)).
    """
    folders = group_folders(root, own, "cpu")
    quotas = [quota for folder in folders if (quota := _quota_in(folder)) is not None]
    return min(quotas, default=None)


def own_groups() -> str:
    """Content of `/proc/self/cgroup`, empty where there are no control groups."""
    return _OWN_CGROUP.read_text() if _OWN_CGROUP.exists() else ""


def group_folders(root: Path, own: str, controller: str) -> Iterator[Path]:
    """Our group and all above it: each limits what is below. A container sees its own group as the root.

    Args:
        root: where control groups are mounted.
        own: see `cgroup_quota`.
        controller: its name in version 1, such as `cpu`.
    """
    for line in own.splitlines() or ["0::/"]:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "":
            mount = root
        elif controller in controllers.split(","):
            mount = root / controller
        else:
            continue
        inner = PurePosixPath(path.lstrip("/"))
        for folder in (inner, *inner.parents):
            yield mount / folder


def _quota_in(folder: Path) -> float | None:
    """The limit of one group: `cpu.max` of version 2, two files in version 1; times in microseconds."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
    except OSError:
        return None  # The group isn't visible from here, or has no such controller.
    if quota in {"max", "-1"}:
        return None
    return int(quota) / int(period)
