"""What XProf asks for first: the addresses that xprof 2.24.2's page asks for, written out."""

from __future__ import annotations

import pytest

from loader.catalog import HostFile, SessionFiles
from loader.storage.base import StoredFile
from server.xprof.asked_first import asked_first

LISTS = ("runs", "run_tools?run=demo", "hosts?run=demo&tag=overview_page")


def session(*hosts: str) -> SessionFiles:
    files = [HostFile(name, StoredFile(f"/a/{name}", name, 10, "1")) for name in hosts]
    return SessionFiles(("/a",), tuple(files))


@pytest.mark.parametrize(
    ("query", "data"),
    [
        ({}, "data?run=demo&tag=overview_page&host=ALL_HOSTS"),
        ({"tag": "overview_page"}, "data?tag=overview_page&run=demo&host=ALL_HOSTS"),
        (
            {"tag": "overview_page", "run": "other", "host": "ALL_HOSTS"},
            "data?tag=overview_page&run=demo&host=ALL_HOSTS",
        ),
    ],
)
def test_the_overviews_data_has_the_order_of_the_address(query: dict[str, str], data: str) -> None:
    assert asked_first("demo", session("a", "b"), "overview_page", query) == (*LISTS, data)


def test_a_single_host_is_named() -> None:
    *_, data = asked_first("demo", session("jax-cpu"), "overview_page", {})
    assert data == "data?run=demo&tag=overview_page&host=jax-cpu"


def test_other_tools_data_is_not_guessed() -> None:
    asked = asked_first("demo", session("a", "b"), "trace_viewer@", {"tag": "trace_viewer@"})
    assert asked == ("runs", "run_tools?run=demo", "hosts?run=demo&tag=trace_viewer@")


@pytest.mark.parametrize(
    ("run", "tool", "hosts", "query", "most"),
    [
        ("a b", "overview_page", ("a", "b"), {}, 1),
        ("demo", "<tool>", ("a", "b"), {}, 2),
        ("demo", "overview_page", ("h&x=1",), {}, 3),
        ("demo", "overview_page", ("a", "b"), {"view": "x"}, 3),
        ("demo", "overview_page", (), {}, 3),
    ],
)
def test_what_is_not_certain_is_left_out(
    run: str, tool: str, hosts: tuple[str, ...], query: dict[str, str], most: int
) -> None:
    assert len(asked_first(run, session(*hosts), tool, query)) == most
