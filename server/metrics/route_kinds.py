"""What kind of answer a route gives, for the time until it begins: a fixed table, by the route's template."""

from __future__ import annotations

from enum import StrEnum

from server.ui.assets import ASSETS_PATH

_XPROF = "/data/plugin/profile/"
_TOOL_DATA = frozenset(
    {"data", "data_csv", "graph_data", "timeline_data", "run_tools", "module_list", "status"}
)
"""Routes of XProf's that a conversion may stand behind."""
_ANY_NAME = "{name:path}"


class RouteKind(StrEnum):
    """Kinds of answers."""

    PAGE = "page"
    TOOL_DATA = "tool_data"
    ASSET = "asset"
    API = "api"
    OTHER = "other"


_BY_BEGIN = (
    ("none", RouteKind.OTHER),
    ("/health", RouteKind.OTHER),
    ("/ready", RouteKind.OTHER),
    ("/metrics", RouteKind.OTHER),
    ("/robots.txt", RouteKind.OTHER),
    ("/internal/", RouteKind.OTHER),
    ("/openapi.json", RouteKind.API),
    ("/v1", RouteKind.API),
    ("/ingest", RouteKind.API),
    (ASSETS_PATH, RouteKind.ASSET),
)


def kind_of(route: str, content_type: str) -> RouteKind:
    """The kind of an answer.

    Args:
        route: the route's template, `none` where no route was found.
        content_type: of the answer; XProf asks for pages and files under one template.
    """
    for begin, kind in _BY_BEGIN:
        if route.startswith(begin):
            return kind
    _, is_xprof, rest = route.partition(_XPROF)
    if is_xprof and rest != _ANY_NAME:
        return RouteKind.TOOL_DATA if rest in _TOOL_DATA else RouteKind.OTHER
    is_file = is_xprof and not content_type.startswith("text/html")
    return RouteKind.ASSET if is_file else RouteKind.PAGE
