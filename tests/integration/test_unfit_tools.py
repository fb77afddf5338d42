"""What is said of tools is true: XProf itself has nothing to show where a tool counts as unfit."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loader.conversion.answers import contents_of
from loader.engine.base import Limits
from loader.engine.xprof import XprofEngine
from loader.errors import ErrorCode, LoaderError
from loader.intake.inspect import inspect_profile
from loader.tools import canonical_options, tool_named
from server.demo.session import write_session
from server.sessions.schemas import HostContents, HostHealth
from server.xprof.tool_fitness import TITLES, unfit_tools
from tests.services.engine import MakeJob
from tests.services.gpu_session import write_gpu_profile
from tests.services.memory_session import write_memory_profile
from tests.services.random_profiles import allocator_profile, device_profile
from tests.wire_bytes import (
    block,
    event_metadata,
    hlo_stat,
    line,
    metadata_plane,
    number,
    plane,
    stat_metadata,
)

LIMITS = Limits(seconds=60, memory_bytes=4 << 30, output_bytes=1 << 30)
IDLE = "IDLE"
"""XProf's own row for the time in which nothing ran."""
PROGRAM = "Program"
EVENT = block(4, number(1, 1) + number(2, 10) + number(3, 5000))


def host(*entries: bytes) -> bytes:
    return plane("/host:CPU", line("thread", EVENT) + b"".join(entries))


def rows(table: dict[str, Any]) -> int:
    """Rows that say something."""
    return sum(all(IDLE not in str(cell.get("v")) for cell in row["c"]) for row in table["rows"])


def has_nothing(tool: str, answer: bytes) -> bool:
    """Whether an answer shows a reader nothing."""
    if tool == "graph_viewer":
        return not answer
    found = json.loads(answer)
    if tool == "op_profile":
        programs = found["byProgram"].get("children", [])
        return not [child for child in programs if child["name"] != IDLE]
    if tool == "memory_profile":
        return not found["memoryProfilePerAllocator"]
    if tool == "memory_viewer":
        return not found.get("maxHeap")
    if (
        tool == "roofline_model"
    ):  # sums of nothing are rows of the program; the second table is of warnings
        operations = [row for row in found[0]["rows"] if row["c"][2]["v"] != PROGRAM]
        return not operations
    tables = found if isinstance(found, list) else [found]
    return not any(rows(table) for table in tables)


def shows(engine: XprofEngine, make_job: MakeJob, tool: str, profile: Path) -> bool:
    """Whether XProf shows anything of the profile in the tool."""
    options = dict(canonical_options(tool_named(tool), {}))
    if tool in {"graph_viewer", "memory_viewer"}:
        listed = engine.convert(make_job("module_list", profile), LIMITS).output.read_text()
        options["module_name"] = listed.split(",")[0]
        if tool == "graph_viewer":
            options["type"] = "short_txt"
    if tool == "megascale_stats":
        options["host"] = profile.name.removesuffix(".xplane.pb")
    job = replace(
        make_job(tool, profile, **options), needs_modules=tool in {"graph_viewer", "memory_viewer"}
    )
    try:
        answer = engine.convert(job, LIMITS).output.read_bytes()
    except LoaderError as error:
        assert error.code in {ErrorCode.ENGINE_REFUSED, ErrorCode.ENGINE_CRASHED}, error.message
        return False
    return not has_nothing(tool, answer)


def unfit(profile: Path) -> set[str]:
    """Tools that count as unfit for the profile."""
    found = HostContents.model_validate(contents_of(inspect_profile(profile).contents))
    row = HostHealth(host="a", file=profile.name, size=1, usable=True, contents=found)
    return {note.tool for note in unfit_tools([row])}


def nothing_of_host(path: Path) -> None:
    path.write_bytes(host(event_metadata(1, "train")))


def tpu_without_hlo(path: Path) -> None:
    path.write_bytes(device_profile(3))


def idle_tpu(path: Path) -> None:
    hlo = metadata_plane(event_metadata(1, "m(1)", stats=hlo_stat(b"m")))
    path.write_bytes(plane("/device:TPU:0", line("XLA Ops")) + host(event_metadata(1, "x")) + hlo)


def framework_on_host(path: Path) -> None:
    path.write_bytes(host(event_metadata(1, "dense/MatMul:MatMul")))


def copies_on_host(path: Path) -> None:
    path.write_bytes(host(event_metadata(1, "MEMCPYHtoD")))


def framework_by_stat(path: Path) -> None:
    event = block(4, number(1, 1) + number(3, 5000) + block(4, number(1, 3) + block(5, "a/b:C")))
    path.write_bytes(
        plane("/host:CPU", line("t", event) + event_metadata(1, "x") + stat_metadata(3, "tf_op"))
    )


def tpu(path: Path) -> None:
    (written,) = write_session(path.parent / "tpu", hosts=1, events=3000)
    written.rename(path)


KINDS: dict[str, Callable[[Path], None]] = {
    "tpu": tpu,
    "gpu": write_gpu_profile,
    "memory": lambda path: write_memory_profile(path, allocators=2, events=100, seed=1),
    "host": nothing_of_host,
    "tpu without HLO": tpu_without_hlo,
    "idle tpu": idle_tpu,
    "framework on host": framework_on_host,
    "copies on host": copies_on_host,
    "framework by stat": framework_by_stat,
}
SHOWN = {
    "tpu": {"op_profile", "hlo_stats", "roofline_model", "framework_op_stats", "memory_viewer"}
    | {"graph_viewer"},
    "gpu": {"op_profile", "hlo_stats", "roofline_model", "framework_op_stats", "kernel_stats"}
    | {"memory_viewer", "graph_viewer"},
    "memory": {"memory_profile", "framework_op_stats"},
    "framework on host": {"framework_op_stats"},
    "copies on host": {"framework_op_stats"},
    "framework by stat": {"framework_op_stats"},
}
"""What XProf has something to show of, for the kinds that a reader has; none of it may be denied."""


@pytest.fixture
def profile(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "profile"
    folder.mkdir()
    yield folder / "host.xplane.pb"


@pytest.mark.parametrize("kind", KINDS)
def test_tools_are_unfit_where_xprof_shows_nothing(
    engine: XprofEngine, make_job: MakeJob, profile: Path, kind: str
) -> None:
    KINDS[kind](profile)
    denied = unfit(profile)
    assert not [tool for tool in denied if shows(engine, make_job, tool, profile)]
    expected = SHOWN.get(kind, set())
    assert {tool for tool in expected if shows(engine, make_job, tool, profile)} == expected
    assert not denied & expected


@pytest.mark.parametrize("seed", range(12))
def test_random_profiles_are_never_denied_a_tool_that_shows_something(
    engine: XprofEngine, make_job: MakeJob, profile: Path, seed: int
) -> None:
    dice = random.Random(seed)
    profile.write_bytes(dice.choice((device_profile, allocator_profile))(seed))
    denied = sorted(unfit(profile))
    assert set(denied) <= set(TITLES)
    assert not [tool for tool in denied if shows(engine, make_job, tool, profile)]
