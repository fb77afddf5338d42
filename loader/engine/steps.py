"""The conversion itself, in the sandboxed child: XProf's converters, called as its own server calls them.

The working directory is the job's directory, and all paths are relative to it: what the engine says
about a file then names nothing of this server. xprof is imported inside functions only, so that importing
this module stays cheap.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from loader.engine.base import Job, OptionValue
from loader.engine.messages import Report
from loader.engine.options import (
    engine_options,
    wants_counter_names,
    wants_graph,
    wants_timeline,
)
from loader.engine.pages import UnknownPageError, check_dot, graph_in_page, graph_json
from loader.engine.produced import ANSWER_FILE, module_names
from loader.errors import ErrorCode
from loader.storage.base import XPLANE_SUFFIX
from loader.tools import MODULE_LIST, RUN_TOOLS

JSON, TEXT, BYTES, CSV = "application/json", "text/plain", "application/octet-stream", "text/csv"

_HERE = Path()
_HLO_DOWNLOADS = frozenset({"pb", "pbtxt", "json", "short_txt", "long_txt"})
_TOOL_ORDER = (
    "overview_page",
    "trace_viewer",
    "trace_viewer@",
    "graph_viewer",
    "op_profile",
    "hlo_op_profile",
    "input_pipeline_analyzer",
    "input_pipeline",
    "kernel_stats",
    "memory_profile",
    "memory_viewer",
    "roofline_model",
    "perf_counters",
    "pod_viewer",
    "framework_op_stats",
    "tensorflow_stats",
    "hlo_op_stats",
    "hlo_stats",
    "inference_profile",
    "megascale_stats",
)
"""The order in which XProf's sidebar shows tools; others follow by name."""

_UNKNOWN_PAGE = "XProf's graph page has a shape that XProf Hub does not know"
_WHY_EMPTY = {
    "memory_profile": "the host recorded no memory allocations",
    "trace_viewer": "the host recorded no events",
    "trace_viewer@": "the hosts recorded no events",
    "memory_viewer": "XProf could not read the module's buffer assignment",
}


class Converters(Protocol):
    """xprof's native converters (xprof.convert._pywrap_profiler_plugin)."""

    def xspace_to_tools_data(
        self, xspace_paths: list[str], tool_name: str, options: Mapping[str, OptionValue]
    ) -> tuple[bytes, bool]:
        """The tool's bytes and True, or a message and False."""


class RefusedError(Exception):
    """The conversion ends here with a report for the parent."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.report = Report(False, code=code, message=message)


def preload(job: Job) -> None:
    """Imports what the job needs from xprof, while files outside the job's directory can still be read.

    Raises:
        RefusedError: the job asks for what the package doesn't have.
    """
    if job.tool == "trace_viewer":
        from xprof.convert import raw_to_tool_data  # noqa: F401
    if job.as_csv:
        from xprof.convert import csv_writer  # noqa: F401
    if wants_counter_names(job.tool, job.options):
        _counter_names(job.options)


def convert(job: Job, converters: Converters) -> Report:
    """Does the job and writes its answer to `ANSWER_FILE` in the working directory.

    Raises:
        RefusedError: XProf has no answer.
    """
    data, content_type = _answer(job, converters)
    if job.as_csv:
        data, content_type = _csv(job.tool, data, content_type), CSV
    write_answer(data)
    return Report(True, content_type=content_type)


def write_answer(data: bytes) -> None:
    """Writes `ANSWER_FILE` in the working directory."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(ANSWER_FILE, flags, 0o644), "wb") as file:
        file.write(data)


def _answer(job: Job, converters: Converters) -> tuple[bytes, str]:
    paths = [f"./{host}{XPLANE_SUFFIX}" for host in job.hosts]
    if job.tool == RUN_TOOLS:
        return json.dumps(_sidebar(_tool_names(converters, paths))).encode(), JSON
    if (job.needs_modules or job.tool == MODULE_LIST) and not module_names(_HERE):
        _tool_names(converters, paths)
    if job.tool == MODULE_LIST:
        return ",".join(module_names(_HERE)).encode(errors="surrogateescape"), TEXT
    if wants_counter_names(job.tool, job.options):
        return _counter_names(job.options), JSON
    options = engine_options(job.tool, job.options)
    if wants_graph(job.tool, job.options):
        # XProf's page holds the same graph that its converter gives as plain DOT.
        options["format"] = "dot"
    data, success = converters.xspace_to_tools_data(paths, job.tool, options)
    if not success:
        raise RefusedError(ErrorCode.ENGINE_REFUSED, data.decode(errors="replace"))
    if not data:
        raise _nothing(job.tool)
    return _presentable(job, data)


def _nothing(tool: str) -> RefusedError:
    why = _WHY_EMPTY.get(tool)
    reason = f": {why}" if why else ""
    return RefusedError(ErrorCode.ENGINE_REFUSED, f"this profile holds no data for {tool}{reason}")


def _presentable(job: Job, data: bytes) -> tuple[bytes, str]:
    """The answer with its media type; graphs as JSON instead of XProf's HTML."""
    if wants_graph(job.tool, job.options) or wants_timeline(job.tool, job.options):
        try:
            return _graph(data.decode()), JSON
        except ValueError as error:
            raise RefusedError(ErrorCode.ENGINE_REFUSED, _UNKNOWN_PAGE) from error
    if job.tool == "trace_viewer" and job.options.get("format") != "pb":
        from xprof.convert import raw_to_tool_data

        return str(raw_to_tool_data.process_raw_trace(data)).encode(), JSON
    return data, _content_type(job)


def _graph(text: str) -> bytes:
    """XProf's page, or its DOT text, as our JSON.

    Raises:
        UnknownPageError: it is neither.
    """
    try:
        return graph_json(check_dot(text), "dot")
    except UnknownPageError:
        return graph_json(*graph_in_page(text))


def _content_type(job: Job) -> str:
    if job.tool == "graph_viewer":
        return BYTES if job.options.get("type") in _HLO_DOWNLOADS else TEXT
    is_trace = job.tool in {"trace_viewer", "trace_viewer@"}
    if is_trace and engine_options(job.tool, job.options).get("format") == "pb":
        return BYTES
    if job.tool == "megascale_stats" and job.options.get("perfetto"):
        return BYTES
    return JSON


def _tool_names(converters: Converters, paths: list[str]) -> set[str]:
    """The tools that XProf can make; as a side effect it extracts the HLO modules."""
    data, success = converters.xspace_to_tools_data(paths, "tool_names", {})
    if not success:
        raise RefusedError(ErrorCode.ENGINE_REFUSED, data.decode(errors="replace"))
    return {name for name in data.decode().split(",") if name}


def _sidebar(names: set[str]) -> list[str]:
    """Tools as XProf's `run_tools` lists them: the streaming trace viewer instead of the plain one."""
    if "trace_viewer@" in names:
        names = names - {"trace_viewer"}
    known = [name for name in _TOOL_ORDER if name in names]
    return known + sorted(names.difference(known))


def _counter_names(options: Mapping[str, OptionValue]) -> bytes:
    """Names and numbers of a device's performance counters, out of a file of the xprof package."""
    from xprof.convert import counter_extractor

    try:
        return json.dumps(counter_extractor.get_all_counters(str(options["device_type"]))).encode()
    except (KeyError, ValueError) as error:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, "names_only needs a device_type that XProf knows"
        ) from error


def _csv(tool: str, data: bytes, content_type: str) -> bytes:
    """XProf's table as CSV."""
    from xprof.convert import csv_writer

    try:
        if content_type != JSON:
            raise ValueError(content_type)
        return str(csv_writer.json_to_csv_string(data)).encode()
    except (ValueError, TypeError, AttributeError) as error:
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, f"{tool} is not a table and has no CSV form"
        ) from error
