"""Canonical options: what XProf's own server would pass on, and nothing else."""

import re

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
        ("trace_viewer@", {}, {"resolution": "8000", "full_dma": False}),
        (
            "trace_viewer@",
            {"resolution": "2000", "start_time_ms": "1.5", "end_time_ms": "2e3", "format": "pb"},
            {
                # 128 ms is the largest power of two of which nine fit: loader.trace_window.
                "resolution": "10000",
                "full_dma": False,
                "start_time_ms": "0.0",
                "end_time_ms": "2176.0",
                "format": "pb",
            },
        ),
        (
            "trace_viewer@",
            {"event_name": "dot.3", "format": "pb"},
            {"resolution": "8000", "full_dma": False, "event_name": "dot.3", "format": "json"},
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
        ("graph_viewer", "graph_width", "9" * 5000),
        ("perf_counters", "device_type", "../../etc"),
    ],
)
def test_a_bad_value_is_refused_by_name(tool: str, name: str, value: str) -> None:
    with pytest.raises(LoaderError) as caught:
        canonical_options(TOOLS[tool], {name: value})
    assert caught.value.code is ErrorCode.INVALID_REQUEST
    assert name in caught.value.message


HOSTILE_VALUES = (
    "9" * 5000,
    "9" * 21,
    "-1",
    "1e999",
    "0." + "1" * 5000,
    "nan",
    "inf",
    "1_000",
    "\u0661",
    "\u00b2",
    "0x10",
    "not a number",
    "\0",
    "",
    " ",
    "<script>" * 1000,
)
OUR_SENTENCES = re.compile(
    r"The parameter “\w+” must be ("
    r"one of [\w, ]+|a whole number of at most 20 digits|a finite number of at most 32 characters|"
    r"shorter than 4096 characters and hold no NUL)\."
)


@pytest.mark.parametrize("value", HOSTILE_VALUES)
@pytest.mark.parametrize(
    ("tool", "name"), [(tool.name, name) for tool in TOOLS.values() for name in tool.options]
)
def test_a_value_of_any_kind_is_taken_or_refused_in_our_own_words(
    tool: str, name: str, value: str
) -> None:
    try:
        taken = canonical_options(TOOLS[tool], {name: value}).get(name)
    except LoaderError as refused:
        assert refused.code is ErrorCode.INVALID_REQUEST
        assert OUR_SENTENCES.fullmatch(refused.message), refused.message
    else:
        assert taken is None or len(str(taken)) <= 4096


@pytest.mark.parametrize(
    ("tool", "name", "value", "taken"),
    [
        # The largest number of 64 bits, and the longest that JavaScript writes.
        ("memory_viewer", "program_id", "18446744073709551615", "18446744073709551615"),
        ("trace_viewer@", "start_time_ms", "-1.2345678901234567e-300", "-1.2345678901234567e-300"),
        ("trace_viewer@", "end_time_ms", "0.0000012345678901234567", "0.0000012345678901234567"),
        ("graph_viewer", "graph_width", "9" * 20, 100),
    ],
)
def test_long_numbers_of_real_programs_are_taken(
    tool: str, name: str, value: str, taken: OptionValue
) -> None:
    assert canonical_options(TOOLS[tool], {name: value})[name] == taken


def test_an_unknown_tool_is_not_there() -> None:
    with pytest.raises(LoaderError) as caught:
        tool_named("no_such_tool")
    assert caught.value.code is ErrorCode.NOT_FOUND
    assert tool_named("overview_page^") is TOOLS["overview_page"]
