"""XProf's tools: which hosts each can show, which options it takes, which artifact it shares.

The facts are those of xprof 2.24.2 (its plugin's routes and converters; measured in tests/integration).
Whatever is not in this table never reaches the engine: unknown parameters are dropped, unknown tools refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from loader.engine.base import OptionValue
from loader.errors import ErrorCode, LoaderError
from loader.trace_window import snap_window

ALL_HOSTS = "ALL_HOSTS"
"""XProf's word for all hosts of a session together."""

RUN_TOOLS = "run_tools"
MODULE_LIST = "module_list"
HEALTH = "health"
"""Our own: what the inspection of every host said, without the engine."""

_MAX_TEXT = 4096
_MAX_DIGITS = 20
"""As many as the largest number of 64 bits has; Python refuses very long ones in words of its own."""
_MAX_NUMBER = 32
"""JavaScript writes no number with more characters."""


class ArtifactKind(StrEnum):
    """What a conversion leaves behind for other tools of the same hosts."""

    OP_STATS = "op_stats"
    TRACE = "trace"
    MODULES = "modules"


class HostSupport(StrEnum):
    """What a tool's host menu offers."""

    EACH = "each"
    """Every host by itself."""
    EACH_OR_ALL = "each_or_all"
    ALL_ONLY = "all_only"


OptionParser = Callable[[str], OptionValue | None]


def _text(value: str) -> str | None:
    if len(value) > _MAX_TEXT or "\0" in value:
        raise ValueError(f"must be shorter than {_MAX_TEXT} characters and hold no NUL")
    return value


def _number(value: str) -> str | None:
    """A finite number, kept as the text that XProf parses itself."""
    text = value.strip()
    if len(text) > _MAX_NUMBER or not _is_finite(text):
        raise ValueError(f"must be a finite number of at most {_MAX_NUMBER} characters")
    return text


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _digits(value: str) -> str | None:
    if value and not (_is_whole(value) and len(value) <= _MAX_DIGITS):
        raise ValueError(f"must be a whole number of at most {_MAX_DIGITS} digits")
    return value or None


def _is_whole(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _flag(value: str) -> bool:
    """XProf reads every text but `true` as false."""
    return value.lower() == "true"


def _flag_number(value: str) -> int:
    return int(value == "true")


def _present(value: str) -> bool | None:
    return True if value else None


def _width(value: str) -> int:
    """XProf's graph width in nodes; anything that is not a number is its default, 3."""
    if not _is_whole(value):
        return 3
    if len(value) > _MAX_DIGITS:
        raise ValueError(f"must be a whole number of at most {_MAX_DIGITS} digits")
    return min(int(value), 100)


def _one_of(*choices: str) -> OptionParser:
    def parse(value: str) -> str | None:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value

    return parse


@dataclass(frozen=True)
class Tool:
    """One row of the table.

    Attributes:
        name: XProf's `tag`.
        hosts: what the host menu offers.
        artifact: what it shares with other tools, or None.
        several_hosts: whether `hosts=a,b` chooses several.
        options: query parameter to parser; a parser answers None to leave the option out.
        defaults: options that are sent even when the query has none.
        with_host: whether the engine is told the chosen host (option `host`).
    """

    name: str
    hosts: HostSupport = HostSupport.EACH
    artifact: ArtifactKind | None = None
    several_hosts: bool = False
    options: Mapping[str, OptionParser] = field(default_factory=dict)
    defaults: Mapping[str, OptionValue] = field(default_factory=dict)
    with_host: bool = False


_TRACE_OPTIONS: Mapping[str, OptionParser] = {
    "resolution": _digits,
    "full_dma": _flag,
    "start_time_ms": _number,
    "end_time_ms": _number,
    "event_name": _text,
    "duration_ms": _number,
    "unique_id": _text,
    "search_prefix": _text,
    "search_metadata": _flag,
    "format": _one_of("json", "pb"),
}
_TRACE_DEFAULTS: Mapping[str, OptionValue] = {"resolution": "8000", "full_dma": False}
_MODULE_OPTIONS: Mapping[str, OptionParser] = {"module_name": _text, "program_id": _digits}
_GRAPH_OPTIONS: Mapping[str, OptionParser] = {
    **_MODULE_OPTIONS,
    "node_name": _text,
    "graph_width": _width,
    "show_metadata": _flag_number,
    "merge_fusion": _flag_number,
    "format": _text,
    "type": _one_of("", "graph", "pb", "pbtxt", "json", "short_txt", "long_txt", "adj_nodes"),
}
_OP_STATS = ArtifactKind.OP_STATS
_BOTH = HostSupport.EACH_OR_ALL

_TOOLS = (
    Tool("overview_page", HostSupport.ALL_ONLY, _OP_STATS),
    Tool("input_pipeline_analyzer", _BOTH, _OP_STATS),
    Tool("framework_op_stats", _BOTH, _OP_STATS),
    Tool("kernel_stats", _BOTH, _OP_STATS),
    Tool("pod_viewer", HostSupport.ALL_ONLY, _OP_STATS),
    Tool(
        "op_profile",
        artifact=_OP_STATS,
        options={"group_by": _one_of("program", "category", "provenance")},
        defaults={"group_by": "program"},
    ),
    Tool("hlo_stats", artifact=_OP_STATS),
    Tool("roofline_model", artifact=_OP_STATS),
    Tool(
        "trace_viewer",
        several_hosts=True,
        options=_TRACE_OPTIONS,
        defaults=_TRACE_DEFAULTS,
    ),
    Tool(
        "trace_viewer@",
        artifact=ArtifactKind.TRACE,
        several_hosts=True,
        options=_TRACE_OPTIONS,
        defaults=_TRACE_DEFAULTS,
    ),
    Tool("memory_profile"),
    Tool("inference_profile"),
    Tool(
        "memory_viewer",
        artifact=ArtifactKind.MODULES,
        options={
            **_MODULE_OPTIONS,
            "memory_space": _digits,
            "view_memory_allocation_timeline": _present,
        },
        defaults={"memory_space": "0"},
    ),
    Tool(
        "graph_viewer",
        artifact=ArtifactKind.MODULES,
        options=_GRAPH_OPTIONS,
        defaults={"graph_width": 3, "show_metadata": 0, "merge_fusion": 0},
    ),
    Tool("megascale_stats", _BOTH, options={"perfetto": _flag}, with_host=True),
    Tool("perf_counters", options={"names_only": _text, "device_type": _one_of("v6e", "v7x")}),
    Tool("utilization_viewer"),
    Tool("kernel_utilization", with_host=True),
    Tool("smart_suggestion", HostSupport.ALL_ONLY),
)
TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in _TOOLS}

OWN_TOOLS: Mapping[str, Tool] = {
    RUN_TOOLS: Tool(RUN_TOOLS, HostSupport.ALL_ONLY, ArtifactKind.MODULES),
    MODULE_LIST: Tool(MODULE_LIST, HostSupport.ALL_ONLY, ArtifactKind.MODULES),
    HEALTH: Tool(HEALTH, HostSupport.ALL_ONLY),
}
"""Answers that XProf gives under routes of their own, made here like a tool's."""


def tool_named(name: str) -> Tool:
    """The tool of XProf with this name; a trailing `^` of old links is ignored.

    Raises:
        LoaderError: NOT_FOUND.
    """
    tool = TOOLS.get(name.removesuffix("^"))
    if tool is None:
        raise LoaderError(ErrorCode.NOT_FOUND, f"XProf has no tool called “{name[:80]}”.")
    return tool


def canonical_options(tool: Tool, query: Mapping[str, str]) -> dict[str, OptionValue]:
    """The options of a tool as the engine gets them; what the tool does not know is dropped.

    Raises:
        LoaderError: INVALID_REQUEST, naming the parameter.
    """
    options = dict(tool.defaults)
    for name, parse in tool.options.items():
        if name not in query:
            continue
        try:
            value = parse(query[name])
        except ValueError as problem:
            raise LoaderError(
                ErrorCode.INVALID_REQUEST, f"The parameter “{name}” {problem}."
            ) from problem
        if value is not None:
            options[name] = value
    if "event_name" in options:
        # Details of one event exist as JSON only; XProf ignores the asked format here.
        options["format"] = "json"
    if tool.options is _TRACE_OPTIONS:
        options = snap_window(options)
    return dict(sorted(options.items()))
