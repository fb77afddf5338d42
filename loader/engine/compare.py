"""Whether an answer of xprof-rs is XProf's answer: parsed, field by field, in order.

One rule besides: of several allocations that are alike in all that XProf shows (operation, sizes, region,
type, shape) it keeps one and counts the others, and which one it keeps is an accident of sorting. So address,
moment and totals of such an entry are not compared. Nothing else is forgiven.

Tests and the shadow of a running worker use the same comparison. As a program, `python -m
loader.engine.compare TOOL FAST XPROF` compares two files at the lowest priority and prints one
JSON value: null, or where they first differ; it holds no name or text of the profile.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from collections.abc import Mapping
from pathlib import Path

from loader.engine.rs import ALLOCATORS

Json = Mapping[str, "Json"] | list["Json"] | str | int | float | bool | None

_FIELD = re.compile(r"[a-z][A-Za-z_]{0,39}")
_KEYED_BY_NAMES = frozenset({ALLOCATORS})
"""Fields whose keys are names out of the profile."""
_ACCIDENTAL = ("timeOffsetPs", "aggregationStats")
_MEMORY_BYTES = 2 << 30


def first_difference(tool: str, fast: bytes, xprof: bytes) -> str | None:
    """Where two answers of a tool first differ, e.g. `rows[3].c[7].v`; None when they don't.

    Raises:
        ValueError: one of them is not JSON.
    """
    one, other = json.loads(fast), json.loads(xprof)
    if tool == "memory_profile":
        one, other = _without_accidents(one), _without_accidents(other)
    return _difference(one, other, "")


def _difference(one: Json, other: Json, path: str) -> str | None:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        if set(one) != set(other):
            return f"{path}{{keys}}"
        hide = path.rpartition(".")[2] in _KEYED_BY_NAMES
        parts = ((one[key], other[key], f"{path}.{_shown(key, hide)}".lstrip(".")) for key in one)
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{path}[length]"
        pairs = enumerate(zip(one, other, strict=True))
        parts = ((mine, theirs, f"{path}[{index}]") for index, (mine, theirs) in pairs)
    else:
        # 1 and 1.0 and True are equal to Python, and different answers.
        return None if one == other and type(one) is type(other) else path or "all of it"
    return next((found for part in parts if (found := _difference(*part)) is not None), None)


def _shown(key: str, hide: bool) -> str:
    return key if not hide and _FIELD.fullmatch(key) else "*"


def _without_accidents(answer: Json) -> Json:
    """A memory profile without what XProf picks by accident."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get(ALLOCATORS), Mapping):
        return answer
    allocators = answer[ALLOCATORS]
    if not isinstance(allocators, Mapping):
        return answer
    cleaned = {name: _without_choice(profile) for name, profile in allocators.items()}
    return {**answer, ALLOCATORS: cleaned}


def _without_choice(profile: Json) -> Json:
    if not isinstance(profile, Mapping):
        return profile
    snapshots, entries = profile.get("memoryProfileSnapshots"), profile.get("activeAllocations")
    if not isinstance(snapshots, list) or not isinstance(entries, list):
        return profile
    chosen = {
        entry.get("snapshotIndex")
        for entry in entries
        if isinstance(entry, Mapping) and entry.get("numOccurrences") != "1"
    }
    kept = [
        _without_moment(snapshot) if str(index) in chosen else snapshot
        for index, snapshot in enumerate(snapshots)
    ]
    return {**profile, "memoryProfileSnapshots": kept}


def _without_moment(snapshot: Json) -> Json:
    if not isinstance(snapshot, Mapping):
        return snapshot
    activity = snapshot.get("activityMetadata")
    if isinstance(activity, Mapping):
        activity = {name: value for name, value in activity.items() if name != "address"}
    rest = {name: value for name, value in snapshot.items() if name not in _ACCIDENTAL}
    return {**rest, "activityMetadata": activity}


def main() -> None:
    """Compares the two files that the command names."""
    tool, fast, xprof = sys.argv[1:4]
    os.nice(19)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    found = first_difference(tool, Path(fast).read_bytes(), Path(xprof).read_bytes())
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
