"""Tools that the demo has nothing for: kernels of GPUs, and memory that allocators hand out.

Expected values come from XProf's answer to the same question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.browser.conftest import MakeViewer
from tests.browser.reading import chart_with, open_tool, rows_of, table_with, text_of

ROWS = "table tbody tr"
GIB = 1 << 30


def test_kernel_stats(other_links: Mapping[str, str], viewer: MakeViewer) -> None:
    shown = viewer(other_links["gpu"])
    open_tool(shown, "kernel_stats", ROWS)
    answer: Any = shown.data(tag="kernel_stats", host="gpu-host")
    expected = rows_of(answer, "kernel_name", "occurrences", "total_duration_us")
    labels = {column["id"]: column["label"] for column in answer["cols"]}
    table = table_with(shown.page, "Kernel Name")
    assert len(table.rows) > 0
    assert table.column("Kernel Name") == [row[0] for row in expected[: len(table.rows)]]
    for at in range(len(table.rows)):
        assert table.number(labels["occurrences"], at) == expected[at][1]
        total = table.number(labels["total_duration_us"], at)
        assert total == pytest.approx(expected[at][2], abs=0.0006)
    assert table.total == len(expected)
    assert shown.complaints() == {}


def test_hlo_stats_of_a_gpu(other_links: Mapping[str, str], viewer: MakeViewer) -> None:
    shown = viewer(other_links["gpu"])
    open_tool(shown, "hlo_stats", ROWS)
    answer: Any = shown.data(tag="hlo_stats", host="gpu-host")
    expected = rows_of(answer, "hlo_op_name", "occurrences")
    table = table_with(shown.page, "HLO op name")
    assert table.column("HLO op name") == [row[0] for row in expected[: len(table.rows)]]
    for at in range(len(table.rows)):
        assert table.number("#Occurrences", at) == expected[at][1]
    assert shown.complaints() == {}


@pytest.mark.parametrize("allocator", [0, 1])
def test_memory_profile(other_links: Mapping[str, str], viewer: MakeViewer, allocator: int) -> None:
    shown = viewer(other_links["memory"])
    open_tool(shown, "memory_profile", ROWS)
    answer: Any = shown.data(tag="memory_profile", host="host")
    name = answer["memoryIds"][allocator]
    if allocator:
        shown.page.get_by_role("combobox").last.click()
        shown.page.get_by_role("option", name=name).click()
        shown.page.wait_for_load_state("networkidle")
    profile = answer["memoryProfilePerAllocator"][name]
    summary = profile["profileSummary"]
    text = text_of(shown.page)
    peak = int(summary["peakBytesUsageLifetime"])
    assert f"high water mark in lifetime, may be outside profiling window {_in_words(peak)}" in text
    in_window = int(summary["peakStats"]["peakBytesInUse"])
    assert f"stack + heap, within profiling window {_in_words(in_window)}" in text
    table = table_with(shown.page, "Allocation Size (GiBs)")
    listed = [row for row in profile["activeAllocations"] if _bytes_of(profile, row) > 1 << 20]
    assert table.total == len(listed)
    # Stack, heap and, as the allocators say how much there is, what is free.
    assert chart_with(shown.page, "area", "line")["area"] == 3
    assert shown.complaints() == {}


def _bytes_of(profile: Any, allocation: Any) -> int:
    """The size of an active allocation, of one if there are several alike."""
    index = int(allocation["snapshotIndex"])
    if index < 0:
        return int(
            profile["specialAllocations"][int(allocation["specialIndex"])]["allocationBytes"]
        )
    return int(profile["memoryProfileSnapshots"][index]["activityMetadata"]["allocationBytes"])


def _in_words(size: int) -> str:
    """XProf's way to write a size."""
    for unit, one in (("GiB", GIB), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= one:
            return f"{size / one:.2f} {unit}"
    return f"{size:.2f} B"
