"""How much memory a control group leaves (cgroups(7), kernel documentation of cgroup-v2 and memory)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from server.machine.memory import cgroup_memory, memory_for_conversions


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(("text", "limit"), [("8589934592\n", 8 << 30), ("max\n", None)])
def test_version_2_in_a_container(tmp_path: Path, text: str, limit: int | None) -> None:
    write(tmp_path / "memory.max", text)
    assert cgroup_memory(tmp_path, "0::/\n") == limit


def test_every_group_above_limits_too(tmp_path: Path) -> None:
    write(tmp_path / "a" / "memory.max", "1000\n")
    write(tmp_path / "a" / "b" / "memory.max", "max\n")
    write(tmp_path / "other" / "memory.max", "10\n")
    assert cgroup_memory(tmp_path, "0::/a/b\n") == 1000


def test_version_1(tmp_path: Path) -> None:
    write(tmp_path / "memory" / "box" / "memory.limit_in_bytes", "2147483648\n")
    own = "7:memory:/box\n4:cpu,cpuacct:/elsewhere\n1:name=systemd:/box\n"
    assert cgroup_memory(tmp_path, own) == 2 << 30


def test_without_groups_the_machine_is_the_limit(tmp_path: Path) -> None:
    assert cgroup_memory(tmp_path, "0::/\n") is None
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < memory_for_conversions() <= 0.8 * machine
