"""What a link shows first, and the query of an address that says the same to XProf's page.

A `View` is what the API tells and the registry keeps. XProf's page reads (2.24.2, its `bundle.js`):

| view | query | who reads it |
| --- | --- | --- |
| `tool` | `tag`, in old links `tool` | every page |
| `hosts` | trace viewers: `hosts`, with commas (they read no `host` at first); others: `host` | every page |
| `module`, `op` | `moduleName`, `opName` (`module_name`, `node_name`) | graph viewer, memory viewer |
| `module`, `op` | `program_id` (as XProf writes it, `name(id)`), `hlo_op_name` | HLO op stats |
| `op` | `roofline_op_name` | roofline model |
| `startMs`, `endMs` | `view_start`, `view_end`: ours, on the trace's own axis | trace viewers |

Everything else in an address (its host, link, `run`, `session_path`) is dropped: it says where the page was,
not what it showed. This module knows no request and no link.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from loader.tools import TOOLS
from server.schemas import ApiModel, Line

START, END = "view_start", "view_end"
LONGEST_QUERY = 6000
"""Characters. Proxies commonly refuse an address of more than 8 KB."""
_LONGEST_STATE = 20_000
_MOST_PARAMETERS = 200

Stored: TypeAlias = dict[str, str | float | list[str]]


@dataclass(frozen=True)
class _Names:
    """What XProf's page calls the module and the op of a tool; empty where it has none."""

    module: str = ""
    op: str = ""


_NAMES: Mapping[str, _Names] = MappingProxyType(
    {
        "graph_viewer": _Names("moduleName", "opName"),
        "memory_viewer": _Names("moduleName"),
        "hlo_stats": _Names("program_id", "hlo_op_name"),
        "roofline_model": _Names(op="roofline_op_name"),
    }
)
_NO_NAMES = _Names()
_OTHER_SPELLINGS: Mapping[str, str] = MappingProxyType(
    {"moduleName": "module_name", "opName": "node_name", "tag": "tool"}
)
TRACE_TOOLS = frozenset(tool.name for tool in TOOLS.values() if tool.several_hosts)
"""Tools with a time axis, and the only ones that show a choice of several hosts."""


class View(ApiModel):
    """What a link shows first; what is empty is left to XProf."""

    session: Line = ""
    """Id of a session, for a link to a run: opened in place of the newest."""
    tool: Line = ""
    """XProf's `tag`, such as `trace_viewer@`."""
    hosts: Annotated[list[Line], Field(max_length=500)] = Field(default_factory=list)
    """Several for the trace viewers only."""
    module: Line = ""
    op: Line = ""
    start_ms: float | None = None
    """Trace viewers: where the visible time begins on the trace's own axis, in milliseconds."""
    end_ms: float | None = None
    """Where it ends."""

    @model_serializer(mode="wrap")
    def _say_only_what_was_said(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        written: dict[str, object] = handler(self)
        return {name: value for name, value in written.items() if value not in ("", [], None)}

    def to_stored(self) -> Stored:
        """As the registry keeps it."""
        return self.model_dump(mode="json")


class NewView(View):
    """A view that somebody asks for: it must be one that the page can show."""

    @model_validator(mode="before")
    @classmethod
    def _name_the_missing_end(cls, fields: object) -> object:
        """Puts an end beside a start, so that a missing one is complained of by its name."""
        ends = {"startMs": "endMs", "start_ms": "end_ms"}
        if not isinstance(fields, dict):
            return fields
        missing = {ends[name]: None for name in fields if name in ends}
        return {**missing, **fields}

    @field_validator("tool")
    @classmethod
    def _known(cls, tool: str) -> str:
        if tool and tool not in TOOLS:
            raise ValueError("XProf has no such tool; write it as in the page's address (tag=…).")
        return tool

    @field_validator("hosts")
    @classmethod
    def _one_host_or_trace(cls, hosts: list[str], info: ValidationInfo) -> list[str]:
        if len(hosts) > 1 and info.data.get("tool", "") not in TRACE_TOOLS:
            raise ValueError("Only the trace viewers show several hosts at once; name one.")
        if "" in hosts:
            raise ValueError("A host's name can't be empty.")
        return hosts

    @field_validator("module")
    @classmethod
    def _module_of_tool(cls, module: str, info: ValidationInfo) -> str:
        if module and not _names(info).module:
            tools = ", ".join(tool for tool, names in _NAMES.items() if names.module)
            raise ValueError(f"A module can be chosen in {tools}; say which in tool.")
        return module

    @field_validator("op")
    @classmethod
    def _op_of_tool(cls, op: str, info: ValidationInfo) -> str:
        if op and not _names(info).op:
            tools = ", ".join(tool for tool, names in _NAMES.items() if names.op)
            raise ValueError(f"An op can be chosen in {tools}; say which in tool.")
        return op

    @field_validator("start_ms", "end_ms")
    @classmethod
    def _moment_of_trace(cls, moment: float | None, info: ValidationInfo) -> float | None:
        if moment is None:
            return None
        if not math.isfinite(moment):
            raise ValueError("This must be a finite number of milliseconds.")
        if info.data.get("tool", "") not in TRACE_TOOLS:
            raise ValueError("Only the trace viewers show a range of time; say so in tool.")
        return moment

    @field_validator("end_ms")
    @classmethod
    def _after_start(cls, end: float | None, info: ValidationInfo) -> float | None:
        if "start_ms" not in info.data:
            return end
        start = info.data["start_ms"]
        if (start is None) != (end is None):
            raise ValueError("startMs and endMs go together.")
        if start is not None and end is not None and start >= end:
            raise ValueError("The end must be after startMs.")
        return end

    @model_validator(mode="after")
    def _short_enough(self) -> NewView:
        if len(query_of(self)) > LONGEST_QUERY:
            raise ValueError("This is too long for an address; name fewer hosts.")
        return self


def stored_view(stored: Mapping[str, object]) -> View:
    """The view that the registry kept; what this version doesn't know in it is passed over."""
    return View.model_validate(stored, extra="ignore")


def query_of(view: View) -> str:
    """The query that makes XProf's page show the view, without question mark; empty for an empty view."""
    names = _NAMES.get(view.tool, _NO_NAMES)
    pairs = [("tag", view.tool)]
    if view.tool in TRACE_TOOLS:
        pairs.append(("hosts", ",".join(view.hosts)))
    else:
        pairs += [("host", host) for host in view.hosts]
    pairs += [(names.module, view.module), (names.op, view.op)]
    if view.start_ms is not None and view.end_ms is not None:
        pairs += [(START, _number(view.start_ms)), (END, _number(view.end_ms))]
    return urlencode([(name, value) for name, value in pairs if name and value])


def read_state(text: str) -> NewView:
    """The view that a copied address, or its query alone, shows. Of the address only the query counts.

    Raises:
        ValueError: nothing in it can be shown.
    """
    parameters = _parameters(text)
    tool = _first(parameters, "tag").removesuffix("^")
    names = _NAMES.get(tool, _NO_NAMES)
    fields: dict[str, object] = {
        "tool": tool,
        "hosts": _hosts(parameters, tool),
        "module": _first(parameters, names.module),
        "op": _first(parameters, names.op),
    }
    if tool in TRACE_TOOLS:
        fields |= {"startMs": parameters.get(START), "endMs": parameters.get(END)}
    view = _usable(fields)
    if view == NewView():
        raise ValueError(
            "Nothing in it says what to show. Give an address copied from the page, or its query, "
            'for example "tag=trace_viewer@&host=vm0".'
        )
    return view


def in_words(view: View) -> str:
    """The view in one short line, for a table; empty for an empty view."""
    parts = [view.session, view.tool, ",".join(view.hosts), view.module, view.op]
    if view.start_ms is not None and view.end_ms is not None:
        parts.append(f"{_number(view.start_ms)}-{_number(view.end_ms)} ms")
    return " ".join(part for part in parts if part)


def _usable(fields: dict[str, object]) -> NewView:
    """The view without the fields that can't be shown."""
    left = {name: value for name, value in fields.items() if value}
    while True:
        try:
            return NewView.model_validate(left)
        except ValidationError as problem:
            bad = {str(error["loc"][0]) for error in problem.errors() if error["loc"]}
            if bad & {"startMs", "endMs"}:
                bad |= {"startMs", "endMs"}
            kept = {name: value for name, value in left.items() if name not in bad}
            # Without a field to blame, the view as a whole is too long: its hosts are.
            left = kept if len(kept) < len(left) else {"tool": left.get("tool", "")}


def _parameters(text: str) -> dict[str, str]:
    """The first value of each parameter.

    Raises:
        ValueError: it can't be an address.
    """
    text = text.strip()
    if len(text) > _LONGEST_STATE:
        raise ValueError("This is too long for an address.")
    try:
        query = urlsplit(text).query if "?" in text else text
        pairs = parse_qsl(query.partition("#")[0], max_num_fields=_MOST_PARAMETERS)
    except ValueError as problem:
        raise ValueError("This is no address and no query of one.") from problem
    found: dict[str, str] = {}
    for name, value in pairs:
        found.setdefault(name, value)
    return found


def _first(parameters: Mapping[str, str], name: str) -> str:
    return parameters.get(name) or parameters.get(_OTHER_SPELLINGS.get(name, ""), "")


def _hosts(parameters: Mapping[str, str], tool: str) -> list[str]:
    several = parameters.get("hosts", "") if tool in TRACE_TOOLS else ""
    if several:
        return [host for host in several.split(",") if host]
    host = parameters.get("host", "")
    return [host] if host else []


def _names(info: ValidationInfo) -> _Names:
    return _NAMES.get(info.data.get("tool", ""), _NO_NAMES)


def _number(value: float) -> str:
    return f"{value:.15g}"
