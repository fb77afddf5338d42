"""What xprof-rs may answer in XProf's place: for every tool in its table, the same answer, field by field.

Each session has something to say for the tool. The corpus holds odd profiles that both can read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loader.engine.base import Job, Limits, Program
from loader.engine.compare import first_difference
from loader.engine.rs import SERVED, serves
from loader.engine.xprof import XprofEngine
from server.demo.session import write_session
from tests.services.engine import CORPUS, MakeJob
from tests.services.gpu_session import write_gpu_profile
from tests.services.memory_session import write_memory_profile

LIMITS = Limits(seconds=120, memory_bytes=4 << 30, output_bytes=1 << 30)
Write = Callable[[Path], object]

SESSIONS: dict[str, Write] = {
    "one host": lambda folder: write_session(folder, hosts=1, events=20_000),
    "three hosts": lambda folder: write_session(folder, hosts=3, events=6000, seed=3),
    "a name to be quoted": lambda folder: write_session(
        folder, events=6000, host_names=["höst 1&2+%2F"]
    ),
    "GPUs": lambda folder: write_gpu_profile(folder / "gpu-host.xplane.pb"),
}
MEMORY_SESSIONS: dict[str, Write] = {
    "one allocator": lambda folder: write_memory_profile(folder / "h.xplane.pb", 1, 2500, seed=1),
    "three allocators": lambda folder: write_memory_profile(folder / "h.xplane.pb", 3, 600, seed=2),
}
READABLE = [
    "ts_int64_min",
    "offset_overflow",
    "duration_negative",
    "dangling_event_metadata",
    "dangling_stat_ref",
    "duplicate_planes",
    "empty_names",
    "html_in_names",
    "hlo_garbage",
    "hlo_operand_cycle",
    "ba_missing_instruction",
]
HLO_STATS_ROWS = {"one host": 468, "three hosts": 468, "a name to be quoted": 468, "GPUs": 400}
"""At least so many operations must be compared; the demo's two programs have 468."""


def profiles(folder: Path, write: Write) -> list[Path]:
    folder.mkdir(exist_ok=True)
    write(folder)
    return sorted(folder.glob("*.xplane.pb"))


def answers(both: XprofEngine, make_job: MakeJob, tool: str, files: list[Path]) -> list[bytes]:
    """The answers of xprof-rs and of XProf."""

    def ask(program: Program) -> bytes:
        job: Job = make_job(tool, *files)
        assert serves(job)
        converted = both.convert(replace(job, program=program), LIMITS)
        assert converted.content_type == "application/json"
        return converted.output.read_bytes()

    return [ask(Program.RS), ask(Program.XPROF)]


@pytest.mark.parametrize("session", SESSIONS)
def test_hlo_stats(both: XprofEngine, make_job: MakeJob, tmp_path: Path, session: str) -> None:
    files = profiles(tmp_path / "session", SESSIONS[session])
    fast, xprof = answers(both, make_job, "hlo_stats", files)
    assert len(json.loads(xprof)["rows"]) >= HLO_STATS_ROWS[session]
    assert first_difference("hlo_stats", fast, xprof) is None


def test_hlo_stats_of_one_host_among_several(
    both: XprofEngine, make_job: MakeJob, demo_session: Path
) -> None:
    host = sorted(demo_session.iterdir())[2]
    fast, xprof = answers(both, make_job, "hlo_stats", [host])
    assert first_difference("hlo_stats", fast, xprof) is None


@pytest.mark.parametrize("session", MEMORY_SESSIONS)
def test_memory_profile(both: XprofEngine, make_job: MakeJob, tmp_path: Path, session: str) -> None:
    files = profiles(tmp_path / "session", MEMORY_SESSIONS[session])
    fast, xprof = answers(both, make_job, "memory_profile", files)
    allocators = json.loads(xprof)["memoryProfilePerAllocator"].values()
    assert all(profile["activeAllocations"] for profile in allocators)
    assert first_difference("memory_profile", fast, xprof) is None


@pytest.mark.parametrize("name", READABLE)
def test_odd_profiles_that_both_can_read(both: XprofEngine, make_job: MakeJob, name: str) -> None:
    fast, xprof = answers(both, make_job, "hlo_stats", [CORPUS / f"{name}.xplane.pb"])
    assert first_difference("hlo_stats", fast, xprof) is None


def test_every_tool_in_the_table_is_compared_here() -> None:
    assert set(SERVED) == {"hlo_stats", "memory_profile"}
