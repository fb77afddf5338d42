"""Choosing hosts: XProf's rules (xprof 2.24.2, profile_plugin), and names that make them ambiguous."""

import pytest

from loader.errors import ErrorCode, LoaderError
from loader.hosts import HOST_CALLED_ALL_HOSTS, chosen_hosts, host_menu
from loader.tools import TOOLS, Tool

OVERVIEW = TOOLS["overview_page"]
KERNELS = TOOLS["kernel_stats"]
OP_PROFILE = TOOLS["op_profile"]
TRACE = TOOLS["trace_viewer@"]


@pytest.mark.parametrize(
    ("tool", "hosts", "menu"),
    [
        (OVERVIEW, ["b", "a"], ["ALL_HOSTS"]),
        (OVERVIEW, ["a"], ["a"]),
        (KERNELS, ["b", "a"], ["ALL_HOSTS", "a", "b"]),
        (KERNELS, ["a"], ["a"]),
        (OP_PROFILE, ["b", "a"], ["a", "b"]),
        (KERNELS, ["ALL_HOSTS", "a"], ["ALL_HOSTS", "a", HOST_CALLED_ALL_HOSTS]),
        (OP_PROFILE, ["ALL_HOSTS", "a"], ["ALL_HOSTS", "a"]),
    ],
)
def test_menu_is_what_xprof_offers(tool: Tool, hosts: list[str], menu: list[str]) -> None:
    assert host_menu(tool, hosts) == menu


@pytest.mark.parametrize(
    ("tool", "host", "hosts", "known", "chosen"),
    [
        (OVERVIEW, "ALL_HOSTS", None, ["a", "b"], None),
        (OVERVIEW, None, None, ["a", "b"], None),
        (OVERVIEW, "a", None, ["a", "b"], ("a",)),
        (TRACE, None, "b,a", ["a", "b", "c"], ("a", "b")),
        (TRACE, "c", "b,a", ["a", "b", "c"], ("a", "b")),
        (OP_PROFILE, "a", "b", ["a", "b"], ("a",)),
        (TRACE, None, "a,b", ["a", "b", "a,b"], ("a,b",)),
        (TRACE, None, "a,b,c", ["a,b", "c"], ("a,b", "c")),
        (TRACE, None, ",", [","], (",",)),
        (OP_PROFILE, "ALL_HOSTS", None, ["ALL_HOSTS", "a"], ("ALL_HOSTS",)),
        (KERNELS, "ALL_HOSTS", None, ["ALL_HOSTS", "a"], None),
        (KERNELS, HOST_CALLED_ALL_HOSTS, None, ["ALL_HOSTS", "a"], ("ALL_HOSTS",)),
        (OP_PROFILE, "u\u0308", None, ["u\u0308", "\u00fc"], ("u\u0308",)),
        (TRACE, None, "\u00fc,u\u0308", ["u\u0308", "\u00fc"], ("u\u0308", "\u00fc")),
        (TRACE, None, "ALL_HOSTS", ["a", "b"], ("a", "b")),
    ],
)
def test_choice_follows_the_sessions_own_list(
    tool: Tool,
    host: str | None,
    hosts: str | None,
    known: list[str],
    chosen: tuple[str, ...] | None,
) -> None:
    assert chosen_hosts(tool, host, hosts, known) == chosen


@pytest.mark.parametrize(
    ("tool", "host", "hosts"),
    [
        (OVERVIEW, "nobody", None),
        (TRACE, None, "a,nobody"),
        (TRACE, None, ""),
        (OP_PROFILE, "a/../b", None),
    ],
)
def test_unknown_host_is_refused(tool: Tool, host: str | None, hosts: str | None) -> None:
    if not host and not hosts:
        assert chosen_hosts(tool, host, hosts, ["a"]) is None
        return
    with pytest.raises(LoaderError) as caught:
        chosen_hosts(tool, host, hosts, ["a"])
    assert caught.value.code is ErrorCode.NOT_FOUND


def test_a_long_list_is_refused_at_once() -> None:
    with pytest.raises(LoaderError, match="no host called"):
        chosen_hosts(TRACE, None, ",".join(["a"] * 1_000_000), ["a", "b,c"])
