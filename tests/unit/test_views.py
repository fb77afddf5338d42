"""Views: what can be asked for, the query that shows it, and what a copied address says."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from pydantic import ValidationError

from server.xprof.views import (
    LONGEST_QUERY,
    NewView,
    View,
    in_words,
    query_of,
    read_state,
    stored_view,
)

TRACE = "trace_viewer@"

VIEWS = [
    (NewView(tool="overview_page"), {"tag": "overview_page"}),
    (NewView(hosts=["vm-0"]), {"host": "vm-0"}),
    (
        NewView(tool="memory_profile", hosts=["vm 1&x=2"]),
        {"tag": "memory_profile", "host": "vm 1&x=2"},
    ),
    (NewView(tool=TRACE, hosts=["a", "b"]), {"tag": TRACE, "hosts": "a,b"}),
    (
        NewView(tool=TRACE, hosts=["a"], start_ms=0.1, end_ms=12.000001),
        {"tag": TRACE, "hosts": "a", "view_start": "0.1", "view_end": "12.000001"},
    ),
    (
        NewView(tool="graph_viewer", module="jit_step(12)", op="fusion.3"),
        {"tag": "graph_viewer", "moduleName": "jit_step(12)", "opName": "fusion.3"},
    ),
    (
        NewView(tool="memory_viewer", module="jit_step(12)"),
        {"tag": "memory_viewer", "moduleName": "jit_step(12)"},
    ),
    (
        NewView(tool="hlo_stats", module="jit_step(12)", op="fusion.3"),
        {"tag": "hlo_stats", "program_id": "jit_step(12)", "hlo_op_name": "fusion.3"},
    ),
    (
        NewView(tool="roofline_model", op="%fusion <3>"),
        {"tag": "roofline_model", "roofline_op_name": "%fusion <3>"},
    ),
]


@pytest.mark.parametrize(("view", "query"), VIEWS)
def test_a_view_is_a_query_and_the_query_is_the_view(view: NewView, query: dict[str, str]) -> None:
    assert parse_qs(query_of(view), strict_parsing=True) == {
        name: [value] for name, value in query.items()
    }
    assert read_state(query_of(view)) == view
    assert stored_view(view.to_stored()) == View.model_validate(view.model_dump())


def test_an_empty_view_is_no_query() -> None:
    assert query_of(View()) == ""
    assert View().to_stored() == {}


def test_only_what_was_said_is_kept() -> None:
    view = NewView(tool=TRACE, start_ms=0, end_ms=1.5)
    assert view.to_stored() == {"tool": TRACE, "startMs": 0, "endMs": 1.5}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tool": "no_such_tool"}, "tool"),
        ({"tool": "trace_viewer@^"}, "tool"),
        ({"tool": "overview_page", "hosts": ["a", "b"]}, "hosts"),
        ({"hosts": ["a", "b"]}, "hosts"),
        ({"tool": TRACE, "hosts": ["a", ""]}, "hosts"),
        ({"tool": TRACE, "hosts": ["a\nb"]}, "hosts"),
        ({"tool": TRACE, "hosts": "a"}, "hosts"),
        ({"tool": "overview_page", "module": "m(1)"}, "module"),
        ({"module": "m(1)"}, "module"),
        ({"tool": "memory_viewer", "op": "fusion"}, "op"),
        ({"tool": "graph_viewer", "op": "a\0"}, "op"),
        ({"tool": TRACE, "startMs": 2, "endMs": 2}, "endMs"),
        ({"tool": TRACE, "startMs": 2, "endMs": 1}, "endMs"),
        ({"tool": TRACE, "startMs": 2}, "endMs"),
        ({"tool": TRACE, "endMs": 2}, "endMs"),
        ({"tool": TRACE, "startMs": float("nan"), "endMs": 2}, "startMs"),
        ({"tool": TRACE, "startMs": 1, "endMs": float("inf")}, "endMs"),
        ({"tool": "overview_page", "startMs": 1, "endMs": 2}, "startMs"),
        ({"start": 1}, "start"),
    ],
)
def test_what_the_page_can_not_show_is_refused_by_name(
    fields: dict[str, object], field: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        NewView.model_validate(fields)
    assert field in {str(error["loc"][0]) for error in caught.value.errors()}


def test_a_view_fits_into_an_address() -> None:
    hosts = [f"host-{number:0100}" for number in range(LONGEST_QUERY // 100)]
    with pytest.raises(ValidationError, match="too long"):
        NewView(tool=TRACE, hosts=hosts)


@pytest.mark.parametrize(
    "address",
    [
        "https://other.example/s/xph_x/data/plugin/profile/memory_profile?run=r&tag=memory_profile&host=vm",
        "/memory_profile?tag=memory_profile&host=vm&session_path=/etc&run_path=/&base_session_id=1",
        "?tag=memory_profile&host=vm#profile",
        "tag=memory_profile&host=vm&tag=overview_page&host=other",
        "  tool=memory_profile&host=vm&view_start=1&view_end=2&module_name=m\n",
        "tag=memory_profile^&host=vm&hosts=a,b&node_name=x",
    ],
)
def test_of_an_address_only_what_it_shows_counts(address: str) -> None:
    assert read_state(address) == NewView(tool="memory_profile", hosts=["vm"])


def test_xprofs_other_spellings_are_read() -> None:
    found = read_state("tag=graph_viewer&module_name=m(1)&node_name=add.1&program_id=2")
    assert found == NewView(tool="graph_viewer", module="m(1)", op="add.1")


@pytest.mark.parametrize(
    "junk",
    [
        "view_start=2&view_end=1",
        "view_start=2",
        "view_start=nan&view_end=inf",
        "view_start=x&view_end=1",
        "moduleName=m",
        "hosts=a%00b",
        f"hosts={'a' * 600}",
        "host=",
    ],
)
def test_junk_is_dropped_and_the_rest_kept(junk: str) -> None:
    assert read_state(f"tag={TRACE}&{junk}") == NewView(tool=TRACE)


def test_an_unknown_tool_leaves_the_host() -> None:
    assert read_state("tag=no_such&host=vm") == NewView(hosts=["vm"])


@pytest.mark.parametrize(
    "state", ["", "nonsense", "https://x.example/", "run=r", "tag=no_such", "[::", "a" * 30_000]
)
def test_an_address_that_shows_nothing_is_refused_in_words(state: str) -> None:
    with pytest.raises(ValueError, match=r"address|query"):
        read_state(state)


def test_a_stored_view_of_another_version_is_read() -> None:
    assert stored_view({"tool": "gone_tool", "colour": "red"}) == View(tool="gone_tool")


def test_a_view_in_words_is_one_line() -> None:
    view = NewView(session="s", tool=TRACE, hosts=["a", "b"], start_ms=1, end_ms=2.5)
    assert in_words(view) == "s trace_viewer@ a,b 1-2.5 ms"
    assert in_words(View()) == ""
