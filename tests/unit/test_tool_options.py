"""Canonical options: what XProf's own server would pass on, and nothing else."""

import pytest

from loader.engine.base import OptionValue
from loader.errors import ErrorCode, LoaderError
from loader.tools import TOOLS, canonical_options, tool_named


@pytest.mark.parametrize(
    ("tool", "query", "options"),
    [
        ("overview_page", {"session_path": "/etc", "run": "x", "use_saved_result": "false"}, {}),
        ("op_profile", {}, {"group_by": "program"}),
        ("op_profile", {"group_by": "category"}, {"group_by": "category"}),
        ("trace_viewer@", {}, {"resolution": 8000, "full_dma": False}),
        (
            "trace_viewer@",
            {"resolution": "2000", "start_time_ms": "1.5", "end_time_ms": "2e3", "format": "pb"},
            {
                "resolution": "2000",
                "full_dma": False,
                "start_time_ms": "1.5",
                "end_time_ms": "2e3",
                "format": "pb",
            },
        ),
        (
            "trace_viewer@",
            {"event_name": "dot.3", "format": "pb"},
            {"resolution": 8000, "full_dma": False, "event_name": "dot.3", "format": "json"},
        ),
        (
            "graph_viewer",
            {"graph_width": "abc", "show_metadata": "true", "node_name": "dot"},
            {"graph_width": 3, "show_metadata": 1, "merge_fusion": 0, "node_name": "dot"},
        ),
        ("memory_viewer", {"memory_space": "1"}, {"memory_space": "1"}),
        ("megascale_stats", {"perfetto": "TRUE"}, {"perfetto": True}),
    ],
)
def test_options_are_those_of_the_tool(
    tool: str, query: dict[str, str], options: dict[str, OptionValue]
) -> None:
    assert canonical_options(TOOLS[tool], query) == options


@pytest.mark.parametrize(
    ("tool", "name", "value"),
    [
        ("trace_viewer@", "start_time_ms", "nan"),
        ("trace_viewer@", "end_time_ms", "1; rm"),
        ("trace_viewer@", "resolution", "-1"),
        ("trace_viewer@", "format", "html"),
        ("memory_viewer", "program_id", "../1"),
        ("graph_viewer", "module_name", "a\0b"),
        ("graph_viewer", "node_name", "n" * 5000),
        ("perf_counters", "device_type", "../../etc"),
    ],
)
def test_a_bad_value_is_refused_by_name(tool: str, name: str, value: str) -> None:
    with pytest.raises(LoaderError) as caught:
        canonical_options(TOOLS[tool], {name: value})
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert name in caught.value.message


def test_an_unknown_tool_is_not_there() -> None:
    with pytest.raises(LoaderError) as caught:
        tool_named("no_such_tool")
    assert caught.value.code is ErrorCode.NOT_FOUND
    assert tool_named("overview_page^") is TOOLS["overview_page"]
