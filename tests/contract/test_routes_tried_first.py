"""What links' pages ask for is tried before all else, which is only safe where no other route takes it."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.routing import BaseRoute, Match

from server.all_routers import all_routers
from server.routes.xprof import PLACES, XPROF_PATH

BELOW = ("", "data", "run_tools", "progress/data", "trace_viewer_index.html", "a/b", "sessions/x")
ADDRESSES = [
    f"{place.format(token=name, session=name, run=name)}{XPROF_PATH}/{below}"
    for place in PLACES
    for name in ("one", "sessions", "groups", "data", "enter")
    for below in BELOW
]


def _flat(routes: list[BaseRoute]) -> Iterator[BaseRoute]:
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is None:
            yield route
        else:
            yield from _flat(included.routes)


def _takers(routes: list[BaseRoute], address: str) -> list[str]:
    scope = {
        "type": "http",
        "path": address,
        "method": "GET",
        "headers": [],
        "query_string": b"",
        "root_path": "",
    }
    return [
        getattr(route, "path", "")
        for route in routes
        if route.matches(dict(scope))[0] is not Match.NONE
    ]


def test_only_xprofs_own_routes_take_addresses_below_xprofs_path() -> None:
    routes = [route for router in all_routers() for route in _flat(router.routes)]
    for address in ADDRESSES:
        templates = _takers(routes, address)
        assert templates, address
        assert all(XPROF_PATH in template for template in templates), (address, templates)


def test_they_are_tried_before_the_api() -> None:
    firsts = [router for router in all_routers() if router.routes][:4]
    templates = [getattr(route, "path", "") for router in firsts for route in _flat(router.routes)]
    assert not [template for template in templates if template.startswith("/v1")]
    assert any(template.startswith(f"{PLACES[0]}{XPROF_PATH}") for template in templates)
