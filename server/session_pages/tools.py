"""XProf's tools as a session's page names them: those that have content, and why the others have none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from server.session_pages.addresses import SessionAddresses
from server.sessions.schemas import ToolNote
from server.xprof.tool_fitness import TITLES
from server.xprof.views import View

_TRACE = "trace_viewer@"
TOOL_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "overview_page": "Overview Page",
        _TRACE: "Trace Viewer",
        "input_pipeline_analyzer": "Input Pipeline Analyzer",
        **TITLES,
        "pod_viewer": "Pod Viewer",
        "utilization_viewer": "Utilization Viewer",
        "inference_profile": "Inference Profile",
        "smart_suggestion": "Smart Suggestion",
        "trace_viewer": "Trace Viewer",
    }
)
"""Names of XProf's menu, in the order in which the page lists them."""
_ALWAYS = ("overview_page", _TRACE, "input_pipeline_analyzer", *TITLES, "pod_viewer")
"""Tools that XProf offers for nearly every profile: what is listed before XProf was asked."""


@dataclass(frozen=True)
class ToolLink:
    """A tool that has something to show."""

    title: str
    href: str


@dataclass(frozen=True)
class AbsentTools:
    """Tools that have nothing to show, for one reason."""

    titles: tuple[str, ...]
    reason: str


def tool_links(
    addresses: SessionAddresses, offered: Collection[str], absent: Sequence[ToolNote]
) -> tuple[ToolLink, ...]:
    """Links to the tools.

    Args:
        addresses: of the session.
        offered: tools that XProf lists for this session; empty when it was not asked.
        absent: those of them that have nothing to show.
    """
    missing = {note.tool for note in absent}
    listed = offered or _ALWAYS
    return tuple(
        ToolLink(title, addresses.view(View(tool=tool)))
        for tool, title in TOOL_TITLES.items()
        if tool in listed and tool not in missing
    )


def absent_tools(absent: Sequence[ToolNote]) -> tuple[AbsentTools, ...]:
    """The tools without content, together where they lack the same."""
    by_reason: dict[str, list[str]] = {}
    for note in absent:
        by_reason.setdefault(note.reason, []).append(note.title)
    return tuple(AbsentTools(tuple(titles), reason) for reason, titles in by_reason.items())


def tool_title(tool: str) -> str:
    """What XProf's menu calls a tool; its own name when that is not known."""
    return TOOL_TITLES.get(tool, tool)
