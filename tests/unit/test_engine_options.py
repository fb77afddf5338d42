"""Options as XProf's server hands them to its converters, and what never reaches them.

Source: xprof 2.24.2, profile_plugin.py and convert/raw_to_tool_data.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from loader.engine.base import XPROF_VERSION, Job, OptionValue
from loader.engine.options import engine_options
from loader.engine.xprof import XprofEngine, check_job, check_pinned
from loader.errors import ErrorCode, LoaderError


@pytest.mark.parametrize(
    ("tool", "asked", "expected"),
    [
        ("overview_page", {"group_by": "x"}, {"use_saved_result": True}),
        ("op_profile", {}, {"group_by": "program", "use_saved_result": True}),
        (
            "trace_viewer@",
            {"start_time_ms": "5"},
            {
                "resolution": 8000,
                "full_dma": False,
                "start_time_ms": "5",
                "use_saved_result": True,
            },
        ),
        (
            "graph_viewer",
            {"node_name": "a", "graph_width": 1},
            {
                "node_name": "a",
                "graph_width": 1,
                "show_metadata": 0,
                "merge_fusion": 0,
                "use_saved_result": True,
            },
        ),
        (
            "memory_viewer",
            {"module_name": "m"},
            {"module_name": "m", "view_memory_allocation_timeline": False, "memory_space": "0"},
        ),
        ("megascale_stats", {"host": "vm"}, {"host_name": "vm", "perfetto": False}),
        (
            "smart_suggestion",
            {},
            {"use_saved_result": True, "refresh_suggestion": False},
        ),
    ],
)
def test_options(
    tool: str, asked: dict[str, OptionValue], expected: dict[str, OptionValue]
) -> None:
    assert engine_options(tool, asked) == expected


def test_saved_results_can_not_be_switched_off() -> None:
    options = engine_options("trace_viewer@", {"use_saved_result": False})
    assert options["use_saved_result"] is True


@pytest.mark.parametrize("host", ["", "a/b", "../x", "nul\0"])
def test_hosts_that_are_no_file_names(tmp_path: Path, host: str) -> None:
    with pytest.raises(LoaderError) as caught:
        check_job(Job(tmp_path, (host,), "overview_page"))
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_a_linked_profile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vm.xplane.pb").symlink_to("/etc/passwd")
    with pytest.raises(LoaderError) as caught:
        check_job(Job(tmp_path, ("vm",), "overview_page"))
    assert caught.value.code is ErrorCode.INTERNAL


def test_unknown_tools_are_not_found(tmp_path: Path) -> None:
    with pytest.raises(LoaderError) as caught:
        check_job(Job(tmp_path, ("vm",), "tool_names"))
    assert caught.value.code is ErrorCode.NOT_FOUND


def test_version_is_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    assert XprofEngine().version == f"xprof-{XPROF_VERSION}"
    check_pinned()
    monkeypatch.setattr("importlib.metadata.version", lambda _: "2.0.0")
    with pytest.raises(RuntimeError, match=rf"xprof=={XPROF_VERSION}"):
        check_pinned()
