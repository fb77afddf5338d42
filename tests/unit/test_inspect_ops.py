"""Ops that are parts of ops: no cycle, no blow-up."""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.errors import ErrorCode
from loader.inspection.limits import InspectionLimits
from tests.inspecting import inspect, refusal
from tests.wire_bytes import block, event_metadata, line, number, plane


def ops(*children: tuple[int, ...]) -> bytes:
    """A device plane whose op 1 has the first children, op 2 the second, ..."""
    entries = (event_metadata(i, f"%op{i}", children=c) for i, c in enumerate(children, 1))
    return plane("/device:TPU:0", line() + b"".join(entries))


@pytest.mark.parametrize(
    "graph",
    [((1,),), ((2,), (1,)), ((2,), (3,), (4,), (2,)), ((2, 3), (), (4,), (1,))],
    ids=["self", "pair", "behind a tail", "second branch"],
)
def test_a_cycle_is_refused(tmp_path: Path, graph: tuple[tuple[int, ...], ...]) -> None:
    error = refusal(tmp_path, ops(*graph))
    assert error.code is ErrorCode.MALFORMED
    assert "op metadata contains a cycle" in error.message


def test_a_cycle_with_unpacked_children_is_refused(tmp_path: Path) -> None:
    value = number(1, 1) + block(2, "%a") + number(6, 1)
    profile = plane("/device:TPU:0", block(4, number(1, 1) + block(2, value)))
    assert "contains a cycle" in refusal(tmp_path, profile).message


def test_a_shared_child_is_no_cycle(tmp_path: Path) -> None:
    assert inspect(tmp_path, ops((2, 3), (4,), (4,), ())).device_planes == 1


def test_the_later_of_two_entries_with_one_key_counts(tmp_path: Path) -> None:
    first = event_metadata(1, "%a", children=(1,))
    profile = plane("/device:TPU:0", first + event_metadata(1, "%a"))
    assert inspect(tmp_path, profile).device_planes == 1


def test_ops_that_unfold_exponentially_are_refused(tmp_path: Path) -> None:
    levels = tuple((level + 1, level + 1) for level in range(1, 61))
    error = refusal(tmp_path, ops(*levels))
    assert error.code is ErrorCode.TOO_LARGE
    assert "unfolds to more than" in error.message


def test_deep_nesting_is_bounded(tmp_path: Path) -> None:
    def chain(length: int) -> bytes:
        return ops(*((op + 1,) for op in range(1, length + 1)))

    assert inspect(tmp_path, chain(1000)).device_planes == 1
    assert "nested deeper than 1,000 levels" in refusal(tmp_path, chain(1001)).message


def test_child_references_are_bounded(tmp_path: Path) -> None:
    limits = InspectionLimits(children=5)
    assert inspect(tmp_path, ops((2, 3, 4, 5, 6)), limits).planes == 1
    assert "more than 5 child references" in refusal(tmp_path, ops((2,) * 6), limits).message
