"""The comparison of two engines' answers: nothing is forgiven but the one rule, and no name is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from loader.engine.compare import first_difference


def difference(tool: str, fast: object, xprof: object) -> str | None:
    return first_difference(tool, json.dumps(fast).encode(), json.dumps(xprof).encode())


@pytest.mark.parametrize(
    ("fast", "xprof", "where"),
    [
        ({"rows": [1, 2]}, {"rows": [1, 2]}, None),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None),
        ({"rows": [1, 2]}, {"rows": [2, 1]}, "rows[0]"),
        ({"rows": [1]}, {"rows": [1, 2]}, "rows[length]"),
        ({"rows": [{"c": [{"v": 1}]}]}, {"rows": [{"c": [{"v": 2}]}]}, "rows[0].c[0].v"),
        ({"p": {"x": ""}}, {"p": {"y": ""}}, "p{keys}"),
        ({"v": 1}, {"v": 1.0}, "v"),
        ({"v": True}, {"v": 1}, "v"),
        ({"v": None}, {"v": ""}, "v"),
        ([], {}, "all of it"),
    ],
)
def test_where_answers_differ(fast: object, xprof: object, where: str | None) -> None:
    assert difference("hlo_stats", fast, xprof) == where


def test_what_is_no_json_can_not_be_compared() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        first_difference("hlo_stats", b"", b"{}")


def memory_profile(address: str, moment: str, occurrences: str, operation: str = "mul") -> object:
    snapshot = {
        "timeOffsetPs": moment,
        "aggregationStats": {"heapAllocatedBytes": moment},
        "activityMetadata": {"address": address, "tfOpName": operation},
    }
    entry = {"snapshotIndex": "0", "specialIndex": "-1", "numOccurrences": occurrences}
    allocator = {"memoryProfileSnapshots": [snapshot], "activeAllocations": [entry]}
    return {"memoryProfilePerAllocator": {"secret_pool": allocator}}


def test_any_of_several_allocations_that_are_alike_may_stand_for_them() -> None:
    one, other = memory_profile("1", "10", "2"), memory_profile("2", "20", "2")
    assert difference("memory_profile", one, other) is None
    assert difference("hlo_stats", one, other) is not None


def test_a_single_allocation_must_be_the_same_and_its_allocator_is_not_named() -> None:
    one, other = memory_profile("1", "10", "1"), memory_profile("1", "20", "1")
    where = difference("memory_profile", one, other)
    assert where == "memoryProfilePerAllocator.*.memoryProfileSnapshots[0].timeOffsetPs"


def test_what_is_shown_of_a_group_must_be_the_same() -> None:
    one, other = memory_profile("1", "10", "2"), memory_profile("1", "10", "2", "dot")
    where = difference("memory_profile", one, other)
    assert where is not None
    assert where.endswith("memoryProfileSnapshots[0].activityMetadata.tfOpName")


def test_an_unusual_key_is_not_told() -> None:
    assert difference("hlo_stats", {"a name of the user": 1}, {"a name of the user": 2}) == "*"


def test_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "fast").write_text('{"rows": [1]}')
    (tmp_path / "xprof").write_text('{"rows": [2]}')
    command = [sys.executable, "-m", "loader.engine.compare", "hlo_stats"]
    done = subprocess.run(
        [*command, tmp_path / "fast", tmp_path / "xprof"],
        capture_output=True,
        check=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
    )
    assert json.loads(done.stdout) == "rows[0]"
