"""Takes the graph out of the HTML pages that XProf builds around Graphviz.

XProf puts names from the profile unescaped into a script of those pages, so they never leave the child.
What is inside the script is DOT, which a page of our own can draw.
"""

from __future__ import annotations

import json

_PAGE_START = "<!DOCTYPE html>"
_GRAPH_START = "\n    const data = `"
_GRAPH_END = "`;\n    const results = cssregex.exec(data);"
_LAYOUT_CALL = 'hpccWasm.graphviz.layout(dot_data, "svg", "'
_LAYOUTS = frozenset({"dot", "neato"})


class UnknownPageError(ValueError):
    """XProf's page is not built as the pinned version builds it."""


def graph_json(dot: str, layout: str) -> bytes:
    """The answer for a page of ours: `{"dot": DOT text, "layout": Graphviz engine that places it}`."""
    return json.dumps({"dot": dot, "layout": layout}, ensure_ascii=False).encode()


def check_dot(text: str) -> str:
    """The text, if it is a graph in DOT.

    Raises:
        UnknownPageError: when it is something else.
    """
    if not text.startswith(("graph ", "digraph ")) or not text.rstrip().endswith("}"):
        raise UnknownPageError("no graph")
    return text


def graph_in_page(page: str) -> tuple[str, str]:
    """The DOT text and the layout engine in one of XProf's graph pages.

    The text before the graph holds nothing from the profile, so its first mark is XProf's own; after it
    the last mark is, because a name may hold a false one.

    Raises:
        UnknownPageError: when a mark is missing.
    """
    start, end = page.find(_GRAPH_START), page.rfind(_GRAPH_END)
    if not page.lstrip().startswith(_PAGE_START) or start < 0 or end < start + len(_GRAPH_START):
        raise UnknownPageError("no graph in the page")
    _, found, rest = page[end:].partition(_LAYOUT_CALL)
    layout = rest.partition('"')[0]
    if not found or layout not in _LAYOUTS:
        raise UnknownPageError("no known layout in the page")
    return check_dot(page[start + len(_GRAPH_START) : end]), layout
