"""What is asked of xprof-rs, and which of its answers are taken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from loader.engine.base import Job
from loader.engine.rs import UnsureError, body_of, check_answer, request_for, serves

COLUMNS = [
    "rank",
    "program_id",
    "category",
    "hlo_op_name",
    "hlo_op_expression",
    "tf_op_name",
    "occurrences",
    "total_time",
    "avg_time",
    "total_self_time",
    "avg_self_time",
    "total_self_time_percent",
    "cumulative_total_self_time_percent",
    "dma_stall_percent",
    "model_flop_rate",
    "normalized_flop_rate",
    "measured_memory_bw",
    "hbm_bw",
    "cmem_read_bw",
    "cmem_write_bw",
    "operational_intensity",
    "bound_by",
    "hlo_rematerialization",
    "outside_compilation",
    "autotuned",
    "source_info",
    "core_type",
    "parent_op_name",
    "vdd_energy",
]
"""The columns of hlo_stats in XProf 2.24.2."""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    for host in ("a", "b"):
        (tmp_path / f"{host}.xplane.pb").write_bytes(b"")
    return Job(tmp_path, ("a", "b"), "hlo_stats")


def test_a_proven_tool_on_whole_profiles_is_served(job: Job) -> None:
    assert serves(job)
    assert serves(replace(job, tool="memory_profile", hosts=("a",)))


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "overview_page"},
        {"tool": "memory_profile"},
        {"options": {"group_by": "program"}},
        {"as_csv": True},
        {"is_plain": False},
        {"hosts": ("a", "b", "c")},
    ],
    ids=str,
)
def test_anything_else_is_not(job: Job, changes: dict[str, object]) -> None:
    assert not serves(replace(job, **changes))  # type: ignore[arg-type]


def test_a_linked_profile_is_not_served(job: Job, tmp_path: Path) -> None:
    (tmp_path / "c.xplane.pb").symlink_to(tmp_path / "a.xplane.pb")
    assert not serves(replace(job, hosts=("c",)))


def query_of(request: bytes) -> dict[str, list[str]]:
    line = request.split(b"\r\n")[0].decode()
    method, address, version = line.split(" ")
    assert (method, version) == ("GET", "HTTP/1.0")
    return parse_qs(urlsplit(address).query, strict_parsing=True)


def test_the_request_names_the_tool_and_the_host(job: Job) -> None:
    assert query_of(request_for(job))["host"] == ["ALL_HOSTS"]
    asked = query_of(request_for(replace(job, hosts=("höst 1&tag=x\r\nX: y",))))
    assert asked["host"] == ["höst 1&tag=x\r\nX: y"]
    assert asked["tag"] == ["hlo_stats"]


def test_a_host_that_is_not_text_is_not_asked_for(job: Job) -> None:
    with pytest.raises(UnsureError):
        request_for(replace(job, hosts=("\udc80",)))


def response(status: bytes, kind: bytes, length: int, body: bytes) -> bytes:
    head = b"HTTP/1.0 %s\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (status, kind, length)
    return head + body


def test_a_complete_answer_is_taken() -> None:
    assert body_of(response(b"200 OK", b"application/json", 2, b"{}")) == b"{}"


@pytest.mark.parametrize(
    "received",
    [
        b"",
        b"HTTP/1.0 200 OK\r\n",
        b"nonsense\r\n\r\n{}",
        response(b"404 Not Found", b"application/json", 2, b"{}"),
        response(b"200 OK", b"text/html", 2, b"{}"),
        response(b"200 OK", b"application/json", 3, b"{}"),
        response(b"200 OK", b"application/json", 1, b"{}"),
    ],
    ids=["nothing", "no end", "no HTTP", "refused", "HTML", "cut off", "too long"],
)
def test_other_answers_are_not(received: bytes) -> None:
    with pytest.raises(UnsureError):
        body_of(received)


def table(columns: list[str], width: int, name: str = "fusion.1", bandwidth: float = 1) -> bytes:
    cells: list[dict[str, object]] = [{"v": 1}] * width
    cells[COLUMNS.index("hlo_op_name")] = {"v": name}
    cells[COLUMNS.index("measured_memory_bw")] = {"v": bandwidth}
    return json.dumps({"cols": [{"id": name} for name in columns], "rows": [{"c": cells}]}).encode()


def memory_profile(*steps: str) -> bytes:
    shown = [{"activityMetadata": {"stepId": step}} for step in steps]
    allocators = {"b": {"sampledTimelineSnapshots": []}, "a": {"sampledTimelineSnapshots": shown}}
    return json.dumps({"memoryProfilePerAllocator": allocators, "memoryIds": ["a", "b"]}).encode()


def test_answers_of_the_right_shape() -> None:
    check_answer("hlo_stats", table(COLUMNS, len(COLUMNS)))
    check_answer("memory_profile", memory_profile("0", "0"))


@pytest.mark.parametrize(
    ("tool", "body"),
    [
        ("hlo_stats", table(COLUMNS, len(COLUMNS), name="copy/")),
        ("hlo_stats", table(COLUMNS, len(COLUMNS), name="")),
        ("hlo_stats", table(COLUMNS, len(COLUMNS), bandwidth=1.7e16)),
        ("hlo_stats", table(COLUMNS, len(COLUMNS), bandwidth=-1)),
        ("memory_profile", memory_profile("0", "1")),
        ("memory_profile", memory_profile("-1")),
    ],
    ids=["no kernel's name", "no name", "beyond int64", "below zero", "steps", "an odd step"],
)
def test_answers_that_xprof_may_give_otherwise_are_not_taken(tool: str, body: bytes) -> None:
    with pytest.raises(UnsureError):
        check_answer(tool, body)


@pytest.mark.parametrize(
    ("tool", "body"),
    [
        ("hlo_stats", b""),
        ("hlo_stats", b'{"cols": ['),
        ("hlo_stats", b"[" * 100_000),
        ("hlo_stats", b"[]"),
        ("hlo_stats", b'{"cols": [], "rows": []}'),
        ("hlo_stats", b'{"cols": [1], "rows": [1]}'),
        ("hlo_stats", table(COLUMNS[:-1], len(COLUMNS) - 1)),
        ("hlo_stats", table(COLUMNS, len(COLUMNS) - 1)),
        ("memory_profile", b"[]"),
        ("memory_profile", b"{}"),
        # XProf lists every allocator; xprof-rs leaves some out, and then other things may be missing.
        ("memory_profile", b'{"memoryProfilePerAllocator": {"a": {}}, "memoryIds": []}'),
    ],
)
def test_answers_of_another_shape_are_not_taken(tool: str, body: bytes) -> None:
    with pytest.raises(UnsureError):
        check_answer(tool, body)
