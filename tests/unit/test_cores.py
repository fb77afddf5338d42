"""How many cores a control group leaves (cgroups(7), kernel documentation of cgroup-v2 and sched-bwc)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from server.machine.cores import cgroup_quota, usable_cores


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("text", "cores"),
    [("200000 100000\n", 2.0), ("50000 100000\n", 0.5), ("max 100000\n", None)],
)
def test_version_2_in_a_container(tmp_path: Path, text: str, cores: float | None) -> None:
    write(tmp_path / "cpu.max", text)
    assert cgroup_quota(tmp_path, "0::/\n") == cores


def test_every_group_above_limits_too(tmp_path: Path) -> None:
    write(tmp_path / "a" / "cpu.max", "150000 100000\n")
    write(tmp_path / "a" / "b" / "cpu.max", "400000 100000\n")
    write(tmp_path / "other" / "cpu.max", "10000 100000\n")
    assert cgroup_quota(tmp_path, "0::/a/b\n") == 1.5


@pytest.mark.parametrize(("quota", "cores"), [("300000\n", 3.0), ("-1\n", None)])
def test_version_1(tmp_path: Path, quota: str, cores: float | None) -> None:
    write(tmp_path / "cpu" / "box" / "cpu.cfs_quota_us", quota)
    write(tmp_path / "cpu" / "box" / "cpu.cfs_period_us", "100000\n")
    own = "7:memory:/elsewhere\n4:cpu,cpuacct:/box\n1:name=systemd:/box\n"
    assert cgroup_quota(tmp_path, own) == cores


@pytest.mark.parametrize("own", ["", "0::/gone\n", "3:memory:/x\n"])
def test_without_a_limit(tmp_path: Path, own: str) -> None:
    assert cgroup_quota(tmp_path, own) is None


def test_the_affinity_mask_limits() -> None:
    mask = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(mask)})
        assert usable_cores() == 1
    finally:
        os.sched_setaffinity(0, mask)
