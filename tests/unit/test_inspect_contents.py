"""What the inspection says is in a profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.inspection.contents import Contents
from tests.inspecting import inspect
from tests.wire_bytes import (
    block,
    event_metadata,
    good_profile,
    hlo_stat,
    line,
    metadata_plane,
    number,
    plane,
    stat_metadata,
)

EVENT = block(4, number(1, 1) + number(3, 5))


def contents(tmp_path: Path, *planes: bytes) -> Contents:
    return inspect(tmp_path, b"".join(planes)).contents


def host(*entries: bytes) -> bytes:
    return plane("/host:CPU", line("thread", EVENT) + b"".join(entries))


def test_planes_and_their_events_are_counted_by_kind(tmp_path: Path) -> None:
    found = contents(
        tmp_path,
        plane("/device:TPU:0", line("XLA Ops", EVENT * 3)),
        plane("/device:TPU:1 SparseCore 0", line("XLA Ops", EVENT)),
        plane("/device:GPU:0", line("Stream", EVENT * 2)),
        plane("/device:CUSTOM:x", line("x", EVENT * 5)),
        host(),
    )
    assert (found.tpu_planes, found.gpu_planes, found.device_events) == (2, 1, 6)


def test_modules_are_counted_even_without_a_name(tmp_path: Path) -> None:
    named = event_metadata(1, "m(1)", stats=hlo_stat(b"m"))
    nameless = event_metadata(2, "(2)", stats=block(5, number(1, 1) + block(6, b"")))
    assert contents(tmp_path, metadata_plane(named, nameless)).hlo_modules == 2
    assert contents(tmp_path, host()).hlo_modules == 0


@pytest.mark.parametrize("name", ["MemoryAllocation", "MemoryDeallocation"])
def test_kinds_of_memory_events_are_noticed(tmp_path: Path, name: str) -> None:
    assert contents(tmp_path, host(event_metadata(1, name))).has_memory_events
    assert not contents(tmp_path, host(event_metadata(1, f"{name}s"))).has_memory_events
    assert not contents(tmp_path, host(event_metadata(1, name[:-1]))).has_memory_events


def test_transfers_between_slices_are_noticed(tmp_path: Path) -> None:
    assert contents(tmp_path, host(event_metadata(1, "MegaScale: send"))).has_megascale
    assert not contents(tmp_path, host(event_metadata(1, "MegaScale"))).has_megascale


def test_counters_are_noticed(tmp_path: Path) -> None:
    device = plane("/device:TPU:0", line("x", EVENT) + stat_metadata(9, "counter_value"))
    assert contents(tmp_path, device).has_counters
    assert not contents(tmp_path, host(stat_metadata(9, "value"))).has_counters


@pytest.mark.parametrize(
    "name", ["dense/MatMul:MatMul", "jit(f)/mul:mul", "a/dot:", "Iterator::Batch", "MEMCPYHtoD"]
)
def test_names_that_xprof_reads_as_operations_are_noticed(tmp_path: Path, name: str) -> None:
    assert contents(tmp_path, host(event_metadata(1, name))).has_host_ops


@pytest.mark.parametrize(
    "name", ["$profiler.py:91 start", "ThunkExecutor::Execute", "end: dot.1", "train", ""]
)
def test_names_that_xprof_reads_otherwise_are_none(tmp_path: Path, name: str) -> None:
    assert not contents(tmp_path, host(event_metadata(1, name))).has_host_ops


@pytest.mark.parametrize("stat", ["tf_op", "stage_id", "_ipl_stage_id"])
def test_stats_of_operations_are_noticed(tmp_path: Path, stat: str) -> None:
    assert contents(tmp_path, host(stat_metadata(3, stat))).has_host_ops


def test_a_good_profile_says_what_it_holds(tmp_path: Path) -> None:
    found = contents(tmp_path, good_profile())
    assert (found.tpu_planes, found.device_events, found.hlo_modules) == (1, 0, 2)
