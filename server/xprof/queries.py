"""What XProf's addresses ask for: a route's name and its query to a `ToolRequest` for one session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from loader.catalog import SessionFiles
from loader.errors import ErrorCode, LoaderError
from loader.hosts import chosen_hosts
from loader.keys import ToolRequest
from loader.tools import ALL_HOSTS, HEALTH, MODULE_LIST, RUN_TOOLS, canonical_options, tool_named

TIMELINE = "view_memory_allocation_timeline"
DATA = "data"
Query = Mapping[str, str]


def read_tool_request(session: SessionFiles, tool_name: str, query: Query) -> ToolRequest:
    """What XProf's query means for this session; everything else in it is dropped.

    Raises:
        LoaderError: NOT_FOUND for a tool or host that is not there, INVALID_REQUEST for a bad value.
    """
    tool = tool_named(tool_name)
    hosts = chosen_hosts(tool, query.get("host"), query.get("hosts"), session.host_names)
    options = canonical_options(tool, query)
    if tool.with_host and query.get("host"):
        options["host"] = ALL_HOSTS if hosts is None else hosts[0]
    return ToolRequest(session.locations, tool.name, hosts, options)


def _data(session: SessionFiles, query: Query) -> ToolRequest:
    return read_tool_request(session, query.get("tag", ""), query)


def _table(session: SessionFiles, query: Query) -> ToolRequest:
    return replace(_data(session, query), as_csv=True)


def _graph(session: SessionFiles, query: Query) -> ToolRequest:
    return read_tool_request(session, "graph_viewer", {**query, "type": "graph"})


def _timeline(session: SessionFiles, query: Query) -> ToolRequest:
    return read_tool_request(session, "memory_viewer", {**query, TIMELINE: "true"})


def _own(tool: str) -> Callable[[SessionFiles, Query], ToolRequest]:
    return lambda session, _query: ToolRequest(session.locations, tool)


_ROUTES: Mapping[str, Callable[[SessionFiles, Query], ToolRequest]] = MappingProxyType(
    {
        DATA: _data,
        "data_csv": _table,
        "graph_data": _graph,
        "timeline_data": _timeline,
        "run_tools": _own(RUN_TOOLS),
        "module_list": _own(MODULE_LIST),
        "status": _own(HEALTH),
    }
)


def request_of_route(route: str, session: SessionFiles, query: Query) -> ToolRequest:
    """What a route under a link asks for.

    Args:
        route: its name, as in `data` or `run_tools`.
        session: what the link opens.
        query: the first value of each parameter.

    Raises:
        LoaderError: NOT_FOUND for a route, tool or host that is not there, INVALID_REQUEST for a bad value.
    """
    read = _ROUTES.get(route)
    if read is None:
        raise LoaderError(ErrorCode.NOT_FOUND, "There is no data at this address.")
    return read(session, query)
