"""Kinds of answers, by the routes that the front end has."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute

from server.all_routers import all_routers
from server.metrics.route_kinds import RouteKind, kind_of

HTML, JSON = "text/html; charset=utf-8", "application/json"
PLACES = ("/s/{token}", "/s/{token}/sessions/{session}", "/runs/{run}/sessions/{session}")
XPROF = "/data/plugin/profile"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("route", ["data", "data_csv", "graph_data", "run_tools", "status"])
def test_what_a_conversion_may_stand_behind_is_tool_data(place: str, route: str) -> None:
    assert kind_of(f"{place}{XPROF}/{route}", JSON) is RouteKind.TOOL_DATA


@pytest.mark.parametrize("place", PLACES)
def test_xprofs_own_addresses_are_pages_or_files(place: str) -> None:
    assert kind_of(f"{place}{XPROF}/{{name:path}}", HTML) is RouteKind.PAGE
    assert kind_of(f"{place}{XPROF}/{{name:path}}", "text/javascript") is RouteKind.ASSET
    assert kind_of(f"{place}{XPROF}/progress/{{route}}", JSON) is RouteKind.OTHER


@pytest.mark.parametrize(
    ("route", "kind"),
    [
        ("/runs", RouteKind.PAGE),
        ("/runs/{run}/sessions/{session}", RouteKind.PAGE),
        ("/s/{token}", RouteKind.PAGE),
        ("/", RouteKind.PAGE),
        ("/_assets/{content_hash}/{name:path}", RouteKind.ASSET),
        ("/v1/machineLearningRuns", RouteKind.API),
        ("/v1alpha/projects/{project}/locations/{location}/machineLearningRuns", RouteKind.API),
        ("/healthz", RouteKind.OTHER),
        ("/ready", RouteKind.OTHER),
        ("/metrics", RouteKind.OTHER),
        ("/internal/v1/tool-data", RouteKind.OTHER),
        ("none", RouteKind.OTHER),
    ],
)
def test_other_routes_go_by_where_they_begin(route: str, kind: RouteKind) -> None:
    assert kind_of(route, HTML) is kind


def test_every_route_of_the_api_is_of_the_api() -> None:
    routes = [route for router in all_routers() for route in router.routes]
    paths = {route.path for route in routes if isinstance(route, APIRoute)}
    api = {path for path in paths if path.startswith(("/v1", "/ingest"))}
    assert len(api) >= 40
    assert {kind_of(path, JSON) for path in api} == {RouteKind.API}
    assert not {path for path in paths - api if kind_of(path, JSON) is RouteKind.API}
