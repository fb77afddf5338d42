"""From canonical options to exactly those that XProf's own server hands to its converters.

XProf's converters read an option only in the type that they expect, so the types of `loader.tools`, which
are those of XProf's server, are kept. What the server adds or leaves out for a tool is added here.
Source: xprof 2.24.2, profile_plugin.py and convert/raw_to_tool_data.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from loader.engine.base import OptionValue

Options = dict[str, OptionValue]

_SAVED: Options = {"use_saved_result": True}
"""XProf decides by comparing versions as text; we key artifacts by version, so they are always right."""

_TAKEN = {
    "trace_viewer": None,
    "trace_viewer@": None,
    "graph_viewer": None,
    "kernel_utilization": None,
    "op_profile": {"group_by"},
}
"""Tools to the options that their converters get; None: all. Others get none, or are named below."""


def engine_options(tool: str, asked: Mapping[str, OptionValue]) -> Options:
    """The converter's options for a tool of `loader.tools.TOOLS`."""
    if tool == "memory_viewer":
        return _memory_viewer(asked)
    if tool == "megascale_stats":
        named: Options = {"host_name": asked["host"]} if "host" in asked else {}
        return {**named, "perfetto": bool(asked.get("perfetto", False))}
    if tool == "smart_suggestion":
        return {**_SAVED, "refresh_suggestion": asked.get("refresh_suggestion", False)}
    if tool not in _TAKEN:
        return dict(_SAVED)
    taken = _TAKEN[tool]
    kept = {name: value for name, value in asked.items() if taken is None or name in taken}
    return {**_defaults(tool), **kept, **_SAVED}


def _memory_viewer(asked: Mapping[str, OptionValue]) -> Options:
    named = {name: asked[name] for name in ("module_name", "program_id") if name in asked}
    return {
        **named,
        "view_memory_allocation_timeline": wants_timeline("memory_viewer", asked),
        "memory_space": asked.get("memory_space", "0"),
    }


def _defaults(tool: str) -> Options:
    """What XProf's server fills in when the query leaves it out."""
    if tool in {"trace_viewer", "trace_viewer@"}:
        return {"resolution": 8000, "full_dma": False}
    if tool == "op_profile":
        return {"group_by": "program"}
    if tool == "kernel_utilization":
        return {"perfetto": False, "memory_space": "0"}
    return {"graph_width": 3, "show_metadata": 0, "merge_fusion": 0}


def wants_timeline(tool: str, asked: Mapping[str, OptionValue]) -> bool:
    """Whether the memory viewer is asked for its allocation timeline, a page of its own in XProf."""
    return tool == "memory_viewer" and bool(asked.get("view_memory_allocation_timeline"))


def wants_graph(tool: str, asked: Mapping[str, OptionValue]) -> bool:
    """Whether the graph viewer is asked for a drawing, a page of its own in XProf."""
    return tool == "graph_viewer" and asked.get("type") == "graph"


def wants_counter_names(tool: str, asked: Mapping[str, OptionValue]) -> bool:
    """Whether only a device's counter names are asked for, which need no profile (`names_only=1`)."""
    return tool == "perf_counters" and asked.get("names_only") == "1"
