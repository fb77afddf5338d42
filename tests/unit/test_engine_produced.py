"""Only plain files under XProf's own names leave a job's directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loader.engine.produced import module_names, produced_files

EXPECTED = [
    "ALL_HOSTS.op_stats_v2.pb",
    "ALL_HOSTS.smart_suggestion.pb",
    "NO_HOST.op_stats_v2.pb",
    "NO_MODULE.hlo_proto.pb",
    "a b.SSTABLE",
    "a b.metadata.SSTABLE",
    "a b.trie.SSTABLE",
    "jit_step(1).hlo_proto.pb",
    "m" * 200 + "(18446744073709551615).hlo_proto.pb",
]
UNEXPECTED = [
    ".answer",
    ".hlo_proto.pb",
    "ALL_HOSTS..pb",
    "ALL_HOSTS.op_stats_v2.pb.tmp",
    "a b.xplane.pb",
    "cache_version.txt",
    "new\nline.hlo_proto.pb",
    "other.SSTABLE",
    "x" * 223 + ".hlo_proto.pb",
]


def test_names(tmp_path: Path) -> None:
    for name in EXPECTED + UNEXPECTED:
        (tmp_path / name).write_bytes(b"x")
    assert [path.name for path in produced_files(tmp_path, ["a b"])] == EXPECTED


def test_links_folders_and_pipes_are_left(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"x")
    (tmp_path / "ALL_HOSTS.op_stats_v2.pb").symlink_to(secret)
    (tmp_path / "vm.SSTABLE").mkdir()
    os.mkfifo(tmp_path / "m(1).hlo_proto.pb")
    assert produced_files(tmp_path, ["vm"]) == []


def test_a_file_that_has_another_name_elsewhere_is_left(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "other.pb").write_bytes(b"of another session")
    os.link(tmp_path / "other.pb", tmp_path / "job" / "ALL_HOSTS.op_stats_v2.pb")
    assert produced_files(tmp_path / "job", ["vm"]) == []


@pytest.mark.parametrize("missing", [".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE"])
def test_trace_tables_count_as_a_set_only(tmp_path: Path, missing: str) -> None:
    for suffix in (".SSTABLE", ".metadata.SSTABLE", ".trie.SSTABLE"):
        for host in ("a", "b"):
            (tmp_path / f"{host}{suffix}").write_bytes(b"x")
    (tmp_path / f"a{missing}").unlink()
    names = [path.name for path in produced_files(tmp_path, ["a", "b"])]
    assert names == ["b.SSTABLE", "b.metadata.SSTABLE", "b.trie.SSTABLE"]
    (tmp_path / f"a{missing}").symlink_to(tmp_path / f"b{missing}")
    assert [path.name for path in produced_files(tmp_path, ["a", "b"])] == names


def test_module_names_are_sorted_without_their_ending(tmp_path: Path) -> None:
    for name in ("b(2).hlo_proto.pb", "a(1).hlo_proto.pb", "vm.xplane.pb"):
        (tmp_path / name).touch()
    assert module_names(tmp_path) == ["a(1)", "b(2)"]
